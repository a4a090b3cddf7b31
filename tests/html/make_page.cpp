// Makes the page of the data on standard input, for the tests of pages: make_page < DATA > PAGE
#include <json/json.h>

#include <iostream>

#include "sim/html/html_report.h"

int main() {
  Json::Value data;
  std::cin >> data;
  std::cout << shardscope::html_report(data);
  return std::cout.flush() ? 0 : 1;
}
