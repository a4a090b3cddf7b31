# Makes one page of page.html, style.css, the scripts and Chart.js, and writes it as C++ source:
#   cmake -DSOURCE_DIR=... -DSCRIPTS=app/a.js,app/b.js -DCHART_JS=... -DOUTPUT=... -P embed.cmake
# The page is cut at @DATA@, where each report puts its data. The Content-Security-Policy names the
# digests of the scripts and of the style, so that nothing else on the page can run.

# The base64 form of the text's SHA-256.
function(digest_of text result)
  string(SHA256 hex "${text}")
  # 32 bytes and one of padding are eleven groups of three bytes, each four characters.
  string(APPEND hex "00")
  set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  set(base64)
  foreach(group RANGE 10)
    math(EXPR begin "6 * ${group}")
    string(SUBSTRING "${hex}" ${begin} 6 digits)
    foreach(shift 18 12 6 0)
      math(EXPR index "(0x${digits} >> ${shift}) & 63")
      string(SUBSTRING "${alphabet}" ${index} 1 character)
      string(APPEND base64 "${character}")
    endforeach()
  endforeach()
  string(SUBSTRING "${base64}" 0 43 base64)
  set(${result} "${base64}=" PARENT_SCOPE)
endfunction()

file(READ ${SOURCE_DIR}/page.html page)
file(READ ${SOURCE_DIR}/style.css style)
file(READ ${SOURCE_DIR}/chart_js_licence.txt licence)
file(READ ${CHART_JS} chart_js)
if(NOT chart_js MATCHES "Chart\\.js v3\\.")
  message(FATAL_ERROR "${CHART_JS} is not version 3 of Chart.js")
endif()

# The scripts share one scope that nothing outside reaches.
set(app "(() => {\n'use strict';\n")
string(REPLACE "," ";" scripts "${SCRIPTS}")
foreach(script IN LISTS scripts)
  file(READ ${SOURCE_DIR}/${script} text)
  string(APPEND app "\n${text}")
endforeach()
string(APPEND app "})();\n")

foreach(part style chart_js app)
  digest_of("${${part}}" digest)
  string(TOUPPER ${part} name)
  string(REPLACE "@${name}_DIGEST@" "sha256-${digest}" page "${page}")
  string(REPLACE "@${name}@" "${${part}}" page "${page}")
endforeach()
string(REPLACE "@CHART_JS_LICENCE@" "${licence}" page "${page}")

string(FIND "${page}" "@DATA@" cut)
string(SUBSTRING "${page}" 0 ${cut} before)
math(EXPR after_cut "${cut} + 6")
string(SUBSTRING "${page}" ${after_cut} -1 after)
file(WRITE ${OUTPUT} "#include \"sim/html/page.h\"

namespace shardscope {

const std::string_view kPageBeforeData = R\"page(${before})page\";
const std::string_view kPageAfterData = R\"page(${after})page\";

}  // namespace shardscope
")
