#include "sim/files/safetensors.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <random>

#include "tests/sim/temporary_folder.h"

namespace shardscope {
namespace {

std::string with_length(std::uint64_t length, const std::string& rest) {
  std::string content(sizeof length, '\0');
  std::memcpy(content.data(), &length, sizeof length);
  return content + rest;
}

std::string file_of(const std::string& header, std::size_t data_bytes) {
  return with_length(header.size(), header + std::string(data_bytes, '\0'));
}

/// Opens a file of that content; the faults, without the folder's name.
std::vector<std::string> faults_of(const std::string& content) {
  const TemporaryFolder folder;
  std::vector<std::string> faults;
  const auto file = SafetensorsFile::open(folder.write("f", content), faults);
  EXPECT_EQ(file == nullptr, !faults.empty());
  for (std::string& fault : faults) {
    EXPECT_EQ(fault.rfind(folder.path("f") + ": ", 0), 0U) << fault;
    fault.erase(0, folder.path("f").size() + 2);
  }
  return faults;
}

std::vector<std::string> header_faults(const std::string& header, std::size_t data_bytes) {
  return faults_of(file_of(header, data_bytes));
}

using Faults = std::vector<std::string>;

TEST(SafetensorsTest, WritesWhatItReads) {
  const TemporaryFolder folder;
  const std::array<float, 6> weights = {1, 2, 3, 4, 5, -6.5F};
  const std::array<std::int64_t, 2> labels = {7, -1};
  SafetensorsWriter writer(folder.path("f"),
                           {{"w", DType::fp32, {2, 3}}, {"label \"s\"", DType::int64, {2}}},
                           {{"format", "pt"}});
  writer.write(weights.data(), 4);
  writer.write(weights.data() + 1, 20);
  writer.write(labels.data(), sizeof labels);
  EXPECT_EQ(writer.finish(), std::nullopt);

  Faults faults;
  const auto file = SafetensorsFile::open(folder.path("f"), faults);
  ASSERT_TRUE(file) << faults.front();
  ASSERT_EQ(file->entries().size(), 2U);
  const SafetensorsEntry* w = file->find("w");
  ASSERT_NE(w, nullptr);
  EXPECT_EQ(w->dtype, "F32");
  EXPECT_EQ(w->shape, (std::vector<std::uint64_t>{2, 3}));
  EXPECT_EQ(w->begin % 8, 0U);
  std::array<float, 3> some{};
  EXPECT_EQ(file->read_fp32(*w, 3, 3, some.data()), std::nullopt);
  EXPECT_EQ(some, (std::array<float, 3>{4, 5, -6.5F}));
  std::array<std::int64_t, 2> read_labels{};
  EXPECT_EQ(file->read(*file->find("label \"s\""), 0, 2, read_labels.data()), std::nullopt);
  EXPECT_EQ(read_labels, labels);
  EXPECT_EQ(file->find("W"), nullptr);
}

TEST(SafetensorsTest, WritesTheBytesOfTheFormat) {
  const TemporaryFolder folder;
  SafetensorsWriter writer(folder.path("f"), {{"b", DType::bf16, {1}}});
  writer.write("\x80\x3f", 2);
  EXPECT_EQ(writer.finish(), std::nullopt);
  const std::string header = R"({"b":{"data_offsets":[0,2],"dtype":"BF16","shape":[1]}})";
  EXPECT_EQ(folder.read("f"), with_length(56, header + " ") + "\x80\x3f");
}

TEST(SafetensorsTest, ConvertsHalfTypesPieceByPiece) {
  const TemporaryFolder folder;
  constexpr std::size_t kCount = 40000;  // More than is converted at once.
  std::vector<std::uint16_t> ones(kCount, 0x3f80);
  ones.back() = 0xc000;
  SafetensorsWriter writer(folder.path("f"),
                           {{"b", DType::bf16, {kCount}}, {"h", DType::fp16, {2}}});
  writer.write(ones.data(), 2 * kCount);
  writer.write("\x00\x3e\x01\x00", 4);
  EXPECT_EQ(writer.finish(), std::nullopt);
  Faults faults;
  const auto file = SafetensorsFile::open(folder.path("f"), faults);
  ASSERT_TRUE(file);
  std::vector<float> values(kCount);
  EXPECT_EQ(file->read_fp32(*file->find("b"), 0, kCount, values.data()), std::nullopt);
  EXPECT_EQ(values.front(), 1.0F);
  EXPECT_EQ(values[kCount - 2], 1.0F);
  EXPECT_EQ(values.back(), -2.0F);
  EXPECT_EQ(file->read_fp32(*file->find("h"), 0, 2, values.data()), std::nullopt);
  EXPECT_EQ(values[0], 1.5F);
  EXPECT_EQ(values[1], 0x1p-24F);
}

TEST(SafetensorsTest, AcceptsScalarsEmptyTensorsMetadataAndPadding) {
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"s":{"dtype":"F64","shape":[],"data_offsets":[0,8]},)"
      R"("e":{"dtype":"F32","shape":[0,7],"data_offsets":[8,8]}}    )";
  EXPECT_EQ(header_faults(header, 8), Faults{});
  EXPECT_EQ(header_faults("{}", 0), Faults{});
}

TEST(SafetensorsTest, AcceptsATensorThatBeginsAtAnOddByte) {
  const std::string header = R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                             R"("b":{"dtype":"F32","shape":[1],"data_offsets":[1,5]}})";
  EXPECT_EQ(header_faults(header, 5), Faults{});
}

TEST(SafetensorsTest, AnAbandonedWriterLeavesNothing) {
  const TemporaryFolder folder;
  { SafetensorsWriter(folder.path("f"), {{"b", DType::bf16, {1}}}).write("x", 1); }
  EXPECT_EQ(folder.file_count(), 0U);
}

TEST(SafetensorsDeathTest, AWriterKnowsItsBytes) {
  const TemporaryFolder folder;
  SafetensorsWriter writer(folder.path("f"), {{"b", DType::bf16, {1}}});
  EXPECT_DEATH(writer.finish(), "fewer bytes");
  EXPECT_DEATH(writer.write("abc", 3), "more bytes");
}

TEST(SafetensorsTest, RefusesWhatIsNoFile) {
  const TemporaryFolder folder;
  Faults faults;
  EXPECT_EQ(SafetensorsFile::open(folder.path("none"), faults), nullptr);
  EXPECT_EQ(SafetensorsFile::open(folder.path("."), faults), nullptr);
  ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(SafetensorsFile::open(folder.path("pipe"), faults), nullptr);
  ASSERT_EQ(faults.size(), 3U);
  EXPECT_EQ(faults[0], folder.path("none") + ": cannot be opened: No such file or directory");
  EXPECT_EQ(faults[1], folder.path(".") + ": it is a folder");
  EXPECT_EQ(faults[2], folder.path("pipe") + ": it is not a regular file");
}

TEST(SafetensorsTest, RefusesAWrongLength) {
  EXPECT_EQ(faults_of(""), Faults{"has 0 bytes; a safetensors file has at least 8"});
  EXPECT_EQ(faults_of("short"), Faults{"has 5 bytes; a safetensors file has at least 8"});
  const std::string reason = ": the file is cut short or not a safetensors file";
  EXPECT_EQ(faults_of(with_length(3, "{}")),
            Faults{"the header should be 3 bytes long, allowed are 2" + reason});
  EXPECT_EQ(faults_of(with_length(~0ULL, "{}")),
            Faults{"the header should be 18446744073709551615 bytes long, allowed are 2" + reason});
}

TEST(SafetensorsTest, RefusesAHeaderBeyondTheLimit) {
  const TemporaryFolder folder;
  const std::string path = folder.write("f", with_length(100'000'001, "{"));
  std::filesystem::resize_file(path, 200'000'000);  // Sparse.
  Faults faults;
  EXPECT_EQ(SafetensorsFile::open(path, faults), nullptr);
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_NE(faults[0].find("100000001 bytes long, allowed are 100000000"), std::string::npos);
}

TEST(SafetensorsTest, RefusesTextThatIsNoHeader) {
  EXPECT_EQ(header_faults("", 0),
            Faults{"the header must begin with '{': this is not a safetensors file"});
  EXPECT_EQ(header_faults(" {}", 0),
            Faults{"the header must begin with '{': this is not a safetensors file"});
  EXPECT_EQ(header_faults(std::string("{}\0\0", 4), 0), Faults{"the header is not UTF-8 text"});
  EXPECT_EQ(header_faults("{\"\xff\":1}", 0), Faults{"the header is not UTF-8 text"});
  const std::string deep = "{\"a\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  EXPECT_EQ(header_faults(deep, 0), Faults{"the header is nested too deeply; at most 8 levels"});
  std::string many = "{\"a\":[0";
  for (int i = 0; i < 2'000'000; ++i) {
    many += ",0";
  }
  EXPECT_EQ(header_faults(many + "]}", 0), Faults{"the header holds more than 2000000 values"});
}

TEST(SafetensorsTest, RefusesInvalidJson) {
  const std::string entry = R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  for (const std::string& header :
       {std::string("{"), std::string("{}x"), std::string("{}{}"), "{\"a\":" + entry + ",}",
        "{\"a\":" + entry + ",\"a\":" + entry + "}",
        std::string(R"({"a":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}})"),
        std::string(R"({"a":NaN})"), std::string(R"({"\ud800":1})"), std::string("{\"a\": 'b'}")}) {
    const Faults faults = header_faults(header, 4);
    ASSERT_EQ(faults.size(), 1U) << header;
    EXPECT_EQ(faults[0].rfind("the header is not valid JSON: ", 0), 0U) << faults[0];
  }
}

TEST(SafetensorsTest, RefusesWrongEntries) {
  EXPECT_EQ(header_faults(R"({"__metadata__":{"a":1}})", 0),
            Faults{"__metadata__ must hold texts only"});
  EXPECT_EQ(header_faults(R"({"__metadata__":[]})", 0),
            Faults{"__metadata__ must hold texts only"});
  const std::string allowed = "; allowed are exactly dtype, shape and data_offsets";
  EXPECT_EQ(header_faults(R"({"a":1})", 0), Faults{R"(tensor "a": found 1)" + allowed});
  EXPECT_EQ(header_faults(R"({"a":{"dtype":"F32","shape":[]}})", 0),
            Faults{R"(tensor "a": found {"dtype":"F32","shape":[]})" + allowed});
  EXPECT_EQ(
      header_faults(R"({"a\u001b[31m":{"dtype":"f32","shape":[1],"data_offsets":[0,4]}})", 4),
      Faults{R"(tensor "a\x1b[31m": dtype "f32"; allowed are BOOL, U8, I8, F8_E5M2, F8_E4M3, )"
             R"(I16, U16, F16, BF16, I32, U32, F32, F64, I64, U64)"});
}

Faults one_tensor(const std::string& shape, const std::string& offsets, std::size_t data_bytes) {
  return header_faults(
      R"({"a":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}",
      data_bytes);
}

TEST(SafetensorsTest, RefusesWrongShapes) {
  for (const std::string shape : {"[-1]", "[1.5]", "[2.0]", "[1e30]", "[\"1\"]", "3", "{}", "null",
                                  "[[1]]", "[18446744073709551616]", "[true]"}) {
    const Faults faults = one_tensor(shape, "[0,4]", 4);
    ASSERT_EQ(faults.size(), 1U) << shape;
    EXPECT_NE(faults[0].find("; allowed is a list of whole numbers from 0"), std::string::npos)
        << faults[0];
  }
  EXPECT_EQ(one_tensor("[4294967296,4294967296]", "[0,0]", 0),
            Faults{"tensor \"a\": shape [4294967296,4294967296] has more bytes than 64 bits can "
                   "count"});
  EXPECT_EQ(one_tensor("[4611686018427387904]", "[0,0]", 0),
            Faults{"tensor \"a\": shape [4611686018427387904] has more bytes than 64 bits can "
                   "count"});
}

TEST(SafetensorsTest, RefusesWrongOffsets) {
  for (const std::string offsets : {"[4,0]", "[0]", "[0,4,8]", "[-4,0]", "[0,4.5]", "0"}) {
    EXPECT_EQ(one_tensor("[1]", offsets, 4), Faults{"tensor \"a\": data_offsets " + offsets +
                                                    "; allowed is [begin, end], begin <= end"});
  }
  EXPECT_EQ(one_tensor("[2]", "[0,8]", 7),
            Faults{"tensor \"a\": data_offsets [0,8] exceed the file, which has 7 bytes of data"});
  EXPECT_EQ(one_tensor("[1]", "[18446744073709551612,18446744073709551615]", 4).size(), 1U);
  EXPECT_EQ(one_tensor("[2]", "[0,4]", 4),
            Faults{"tensor \"a\": data_offsets [0,4] span 4 bytes, but F32 [2] takes 8"});
}

TEST(SafetensorsTest, RefusesHolesOverlapsAndTrailingBytes) {
  EXPECT_EQ(one_tensor("[1]", "[1,5]", 5),
            Faults{"tensor \"a\": begins at byte 1 of the data; expected 0 (bytes belong to no "
                   "tensor)"});
  EXPECT_EQ(one_tensor("[1]", "[0,4]", 7), Faults{"3 bytes at the end belong to no tensor"});
  EXPECT_EQ(header_faults(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                          R"("b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}})",
                          6),
            Faults{"tensor \"b\": begins at byte 2 of the data; expected 4 (tensors overlap)"});
}

TEST(SafetensorsTest, ReportsEveryFaultOfAHeader) {
  EXPECT_EQ(
      header_faults(R"({"a":1,"b":2,"c":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4)
          .size(),
      2U);
}

/// A few random edits: bytes changed, removed, inserted, ranges repeated.
std::string mutated(std::string content, std::mt19937_64& random) {
  const auto below = [&](std::size_t limit) { return random() % limit; };
  constexpr std::string_view kTelling = "{}[]\",:0123456789-.eE\\u\0\xff";
  for (std::size_t edits = 1 + below(4); edits > 0 && !content.empty(); --edits) {
    const std::size_t position = below(content.size());
    switch (below(5)) {
      case 0:
        content[position] = static_cast<char>(random());
        break;
      case 1:
        content[position] = kTelling[below(kTelling.size())];
        break;
      case 2:
        content.erase(position, 1 + below(8));
        break;
      case 3:
        content.insert(position, 1, kTelling[below(kTelling.size())]);
        break;
      default:
        content.insert(position, content.substr(below(content.size()), below(40)));
        break;
    }
  }
  return content;
}

TEST(SafetensorsTest, SurvivesMutatedFiles) {
  const std::uint64_t seed = std::random_device{}();
  std::mt19937_64 random(seed);
  const TemporaryFolder folder;
  const std::string valid = file_of(
      R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
      R"("b":{"dtype":"BF16","shape":[4],"data_offsets":[24,32]}})",
      32);
  for (int round = 0; round < 3000; ++round) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round));
    const std::string path = folder.write("f", mutated(valid, random));
    Faults faults;
    const auto file = SafetensorsFile::open(path, faults);
    ASSERT_EQ(file == nullptr, !faults.empty());
    if (!file) {
      continue;
    }
    for (const SafetensorsEntry& entry : file->entries()) {
      std::vector<char> bytes(entry.elements * entry.element_size);
      ASSERT_EQ(file->read(entry, 0, entry.elements, bytes.data()), std::nullopt);
    }
  }
}

TEST(SafetensorsTest, AFileThatShrinksIsAnError) {
  const TemporaryFolder folder;
  const std::string path =
      folder.write("f", file_of(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8));
  Faults faults;
  const auto file = SafetensorsFile::open(path, faults);
  ASSERT_TRUE(file);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  std::array<float, 2> values{};
  EXPECT_EQ(file->read(*file->find("a"), 0, 2, values.data()),
            path + ": cannot be read: the file has become shorter");
}

}  // namespace
}  // namespace shardscope
