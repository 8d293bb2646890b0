#include "core/model/hf_config.h"

#include <zlib.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/model/model_graph.h"

using namespace vsim::core;

namespace {

/// A good config, one field a line; lines can be replaced, added or left out.
struct Config {
  std::vector<std::pair<std::string, std::string>> fields;

  static Config llama() {
    return {{{"model_type", "\"llama\""},
             {"hidden_size", "4096"},
             {"intermediate_size", "14336"},
             {"num_hidden_layers", "32"},
             {"num_attention_heads", "32"},
             {"num_key_value_heads", "8"},
             {"vocab_size", "128256"}}};
  }
  static Config mixtral() {
    return llama()
        .with("model_type", "\"mixtral\"")
        .with("num_local_experts", "8")
        .with("num_experts_per_tok", "2");
  }
  static Config deepseek() {
    return llama()
        .with("model_type", "\"deepseek_v3\"")
        .with("kv_lora_rank", "512")
        .with("qk_nope_head_dim", "128")
        .with("qk_rope_head_dim", "64")
        .with("v_head_dim", "128")
        .with("n_routed_experts", "64")
        .with("num_experts_per_tok", "8")
        .with("moe_intermediate_size", "2048");
  }
  [[nodiscard]] Config with(const std::string& key, const std::string& value) const {
    Config changed = *this;
    for (auto& [name, old] : changed.fields)
      if (name == key) {
        old = value;
        return changed;
      }
    changed.fields.emplace_back(key, value);
    return changed;
  }
  [[nodiscard]] Config without(const std::string& key) const {
    Config changed = *this;
    std::erase_if(changed.fields, [&](const auto& field) { return field.first == key; });
    return changed;
  }
  [[nodiscard]] Config renamed(const std::string& key, const std::string& newKey) const {
    Config changed = *this;
    for (auto& [name, value] : changed.fields)
      if (name == key) name = newKey;
    return changed;
  }
  [[nodiscard]] std::string json() const {
    std::string text = "{\n";
    for (std::size_t i = 0; i < fields.size(); ++i)
      text += "  \"" + fields[i].first + "\": " + fields[i].second + (i + 1 < fields.size() ? ",\n" : "\n");
    return text + "}\n";
  }
};

std::string problems(const std::string& json) {
  const auto read = parseHfConfig(json, "config.json");
  return read ? "none" : text(read.error());
}
std::string problems(const Config& config) { return problems(config.json()); }

ModelConfig good(const Config& config) {
  const auto read = parseHfConfig(config.json(), "some/model/config.json");
  if (!read) FAIL(text(read.error()));
  return read->config;
}

std::int64_t parametersOf(const Config& config) { return ModelGraph(good(config)).parameterCount(); }

}  // namespace

TEST_CASE("A good config reads, with the folder's name and the ignored fields in file order") {
  const auto read = parseHfConfig(Config::llama().with("rope_theta", "5e5").with("bos_token_id", "1").json(),
                                  "llama-3-8b/config.json");
  REQUIRE(read);
  CHECK(read->config.name == "llama-3-8b");
  CHECK(read->ignored == std::vector<std::string>{"rope_theta", "bos_token_id"});
  CHECK(read->config.headDim == 128);
  CHECK(!read->config.tiedEmbeddings);
  CHECK(ModelGraph(read->config).parameterCount() == 8'030'261'248);
}

TEST_CASE("An unknown model_type is refused with the known ones") {
  const std::string unknown = problems(Config::llama().with("model_type", "\"mamba\""));
  CHECK(unknown.find("config.json:2:17: unknown model_type \"mamba\" (") == 0);
  for (const std::string& known : knownModelTypes()) CHECK(unknown.find(known) != std::string::npos);
  CHECK(problems(Config::llama().with("model_type", "\"lama\"")).find("did you mean \"llama\"?") !=
        std::string::npos);
  CHECK(problems(Config::llama().without("model_type"))
            .find("config.json:1:1: field \"model_type\" is missing") == 0);
  CHECK(problems(Config::llama().with("model_type", "7"))
            .find("config.json:2:17: \"model_type\" must be text") == 0);
  CHECK(problems(Config::llama().with("model_type", "null"))
            .find("config.json:2:17: \"model_type\" must be text") == 0);
}

TEST_CASE("Impossible numbers are refused where they stand") {
  const auto hidden = [](const std::string& value) {
    return problems(Config::llama().with("hidden_size", value));
  };
  CHECK(hidden("0") == "config.json:3:18: \"hidden_size\" is 0: must be at least 1");
  CHECK(hidden("-4096") == "config.json:3:18: \"hidden_size\" is -4096: must be at least 1");
  CHECK(hidden("4096.5") == "config.json:3:18: \"hidden_size\" is 4096.5: must be a whole number");
  CHECK(hidden("1e30") == "config.json:3:18: \"hidden_size\" is 1e30: too large (at most 16777216)");
  CHECK(hidden("1e400") == "config.json:3:18: the number 1e400 is too large");
  CHECK(hidden("99999999999999999999") ==
        "config.json:3:18: \"hidden_size\" is 99999999999999999999: too large (at most 16777216)");
  CHECK(hidden("18446744073709551615").find("too large") != std::string::npos);
  CHECK(hidden("9223372036854775807").find("too large") != std::string::npos);
  CHECK(hidden("\"4096\"") ==
        "config.json:3:18: \"hidden_size\" must be a number, not text (write it without quotes)");
  CHECK(hidden("\"big\"") == "config.json:3:18: \"hidden_size\" must be a number, not text");
  CHECK(hidden("true") == "config.json:3:18: \"hidden_size\" must be a number, not true or false");
  CHECK(hidden("[4096]") == "config.json:3:18: \"hidden_size\" must be a number, not a list");
  CHECK(hidden("{}") == "config.json:3:18: \"hidden_size\" must be a number, not an object");
  CHECK(hidden("null") == "config.json:3:18: \"hidden_size\" is null: must be a number");
  CHECK(problems(Config::llama().with("tie_word_embeddings", "1")) ==
        "config.json:9:26: \"tie_word_embeddings\" must be true or false, not a number");
  CHECK(
      problems(Config::llama().with("torch_dtype", "\"bfloat17\"")).find("config.json:9:18: unknown dtype") ==
      0);
}

TEST_CASE("All problems are reported at once, in file order") {
  const std::string found = problems(Config::llama()
                                         .with("hidden_size", "0")
                                         .with("num_hidden_layers", "3.5")
                                         .without("vocab_size")
                                         .with("num_attention_heads", "\"32\""));
  CHECK(std::count(found.begin(), found.end(), '\n') == 3);
  CHECK(found.find("config.json:1:1: field \"vocab_size\" is missing\nconfig.json:3:18:") == 0);
  CHECK(found.find("config.json:5:24:") != std::string::npos);
  CHECK(found.find("config.json:6:26:") != std::string::npos);
}

TEST_CASE("Missing and misspelt fields") {
  for (const char* field :
       {"hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "vocab_size"})
    CHECK(problems(Config::llama().without(field)) ==
          "config.json:1:1: field \"" + std::string(field) + "\" is missing");
  CHECK(problems(Config::llama().renamed("hidden_size", "hiden_size")) ==
        "config.json:3:3: unknown field \"hiden_size\" (did you mean \"hidden_size\"?)");
  // An optional one would otherwise change the model without a word.
  CHECK(problems(Config::llama().renamed("num_key_value_heads", "num_key_value_head")) ==
        "config.json:7:3: unknown field \"num_key_value_head\" (did you mean \"num_key_value_heads\"?)");
}

TEST_CASE("Numbers that do not fit together") {
  CHECK(problems(Config::llama().with("num_attention_heads", "30").with("num_key_value_heads", "10")) ==
        "config.json:6:26: 30 heads do not divide the hidden size 4096");
  CHECK(problems(Config::llama().with("num_key_value_heads", "5")) ==
        "config.json:7:26: 5 key-value heads do not divide the 32 attention heads");
  CHECK(problems(Config::llama()
                     .with("num_attention_heads", "30")
                     .with("num_key_value_heads", "10")
                     .with("head_dim", "128")) == "none");
  CHECK(problems(Config::mixtral().with("num_experts_per_tok", "9")) ==
        "config.json:10:26: a token cannot meet 9 of 8 experts");
  CHECK(
      problems(Config::deepseek().with("first_k_dense_replace", "33")).find("33 dense layers at the start") !=
      std::string::npos);
  const std::string list =
      problems(Config::llama().with("model_type", "\"gemma2\"").with("layer_types", "[\"full_attention\"]"));
  CHECK(list == "config.json:9:18: \"layer_types\" lists 1 layers, the model has 32");
  CHECK(problems(Config::llama()
                     .with("model_type", "\"gemma2\"")
                     .with("num_hidden_layers", "1")
                     .with("layer_types", "[\"half_attention\"]"))
            .find("unknown layer type \"half_attention\" (known: full_attention") != std::string::npos);
  CHECK(problems(Config::llama()
                     .with("model_type", "\"gemma2\"")
                     .with("num_hidden_layers", "1")
                     .with("layer_types", "[3]"))
            .find("must be a list of texts") != std::string::npos);
}

TEST_CASE("Sizes that are possible one by one but absurd together") {
  CHECK(problems(Config::llama()
                     .with("hidden_size", "16777216")
                     .with("intermediate_size", "16777216")
                     .with("num_hidden_layers", "10000"))
            .find("sizes make a model of up to") != std::string::npos);
  CHECK(problems(Config::mixtral().with("num_local_experts", "65536").with("num_hidden_layers", "10000"))
            .find("tensors") != std::string::npos);
  CHECK(problems(Config::llama().with("head_dim", "16777216").with("num_attention_heads", "65536"))
            .find("parameters") != std::string::npos);
}

TEST_CASE("Malformed and truncated JSON is refused where it breaks") {
  CHECK(problems("").find("config.json: the file is empty") == 0);
  CHECK(problems(" \n\t\n").find("config.json: the file is empty") == 0);
  CHECK(problems("[1, 2]") == "config.json:1:1: must be an object, not a list");
  CHECK(problems("\"llama\"") == "config.json:1:1: must be an object, not text");
  CHECK(problems("{\n  \"model_type\": llama\n}").find("config.json:2:17: malformed JSON: ") == 0);
  CHECK(problems("{\n  \"model_type\": \"llama\",\n}").find("config.json:3:1: malformed JSON: ") == 0);
  CHECK(problems("{\"model_type\": \"llama\"} x").find("config.json:1:25: malformed JSON: ") == 0);
  CHECK(problems("{\"hidden_size\": NaN}").find("malformed JSON") != std::string::npos);
  CHECK(problems("// comment\n{}").find("config.json:1:1: malformed JSON") == 0);
  CHECK(problems("{\"model_type\": \"\xff\xfe\"}").find("malformed JSON") != std::string::npos);
  const std::string whole = Config::llama().json();
  for (std::size_t length = 1; length + 2 < whole.size(); ++length) {
    const std::string found = problems(whole.substr(0, length));
    INFO("cut after " << length << " bytes: " << found);
    CHECK(found.find("truncated JSON") != std::string::npos);
    CHECK(found.find("config.json:") == 0);
  }
}

TEST_CASE("Keys given twice, all of them") {
  CHECK(problems("{\"model_type\": \"llama\",\n \"a\": 1, \"a\": 2,\n \"b\": {\"c\": 1, \"c\": 2}}") ==
        "config.json:2:10: field \"a\" is given twice (first in line 2)\n"
        "config.json:3:16: field \"c\" is given twice (first in line 3)");
}

TEST_CASE("Deep nesting and floods of values are refused, not followed") {
  const std::string deep = "{\"a\": " + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  CHECK(problems(deep) == "config.json:1:206: nested deeper than 200 levels");
  std::string many = "{\"a\": [0";
  for (int i = 0; i < 300'000; ++i) many += ",0";
  CHECK(problems(many + "]}").find("more than 200000 values") != std::string::npos);
}

TEST_CASE("Two spellings of one field must agree") {
  const Config bloom = Config{{{"model_type", "\"bloom\""},
                               {"hidden_size", "64"},
                               {"n_head", "4"},
                               {"n_layer", "2"},
                               {"vocab_size", "100"}}};
  CHECK(problems(bloom.with("num_attention_heads", "4")) == "none");
  CHECK(problems(bloom.with("num_attention_heads", "8")) ==
        "config.json:7:26: \"n_head\" and \"num_attention_heads\" are the same setting with two values, 4 "
        "and 8");
}

TEST_CASE("Files: missing, a folder, too large, broken gzip") {
  const auto folder = std::filesystem::temp_directory_path() / "vsim_hf_config_test";
  std::filesystem::create_directories(folder);
  const auto found = [](const std::filesystem::path& path) {
    const auto read = readHfConfig(path.string());
    return read ? std::string("none") : text(read.error());
  };
  CHECK(found(folder / "none.json").find("none.json: no such file") != std::string::npos);
  CHECK(found(folder).find("is not a file") != std::string::npos);
  {
    std::ofstream garbage(folder / "garbage.json", std::ios::binary);
    std::string block(1 << 20, '\0');
    unsigned state = 1;
    for (char& c : block) c = static_cast<char>((state = state * 1664525u + 1013904223u) >> 24);
    for (int i = 0; i < 100; ++i) garbage << block;
  }
  CHECK(found(folder / "garbage.json").find("not a config.json") != std::string::npos);
  const std::string json = Config::llama().json();
  gzFile zip = gzopen((folder / "good.json.gz").c_str(), "wb");
  gzwrite(zip, json.data(), static_cast<unsigned>(json.size()));
  gzclose(zip);
  CHECK(found(folder / "good.json.gz") == "none");
  CHECK(readHfConfig((folder / "good.json.gz").string())->config.name == "good");
  std::filesystem::resize_file(folder / "good.json.gz",
                               std::filesystem::file_size(folder / "good.json.gz") - 20);
  CHECK(found(folder / "good.json.gz") != "none");
  std::filesystem::remove_all(folder);
}

TEST_CASE("The text part of a multimodal config is read, the rest is said to be ignored") {
  std::string inner =
      Config::mixtral().with("model_type", "\"llama4_text\"").with("num_experts_per_tok", "1").json();
  const auto read = parseHfConfig(
      "{\"model_type\": \"llama4\", \"vision_config\": {}, \"text_config\": " + inner + "}", "c.json");
  REQUIRE(read);
  CHECK(read->config.modelType == "llama4_text");
  CHECK(read->ignored == std::vector<std::string>{"model_type", "vision_config"});
}

TEST_CASE("Fields that change the model change it") {
  const std::int64_t llama = parametersOf(Config::llama());
  CHECK(parametersOf(Config::llama().with("tie_word_embeddings", "true")) == llama - 128256 * 4096);
  CHECK(parametersOf(Config::llama().with("attention_bias", "true")) ==
        llama + 32 * (4096 + 2 * 1024 + 4096));
  CHECK(parametersOf(Config::llama().with("mlp_bias", "true")) == llama + 32 * (2 * 14336 + 4096));
  CHECK(parametersOf(Config::llama().with("model_type", "\"qwen2\"")) == llama + 32 * (4096 + 2 * 1024));
  const ModelConfig mistral =
      good(Config::llama().with("model_type", "\"mistral\"").with("sliding_window", "4096"));
  CHECK(mistral.slidingWindow == 4096);
  CHECK(mistral.isWindowed(31));
  const ModelConfig qwen =
      good(Config::llama().with("model_type", "\"qwen2\"").with("sliding_window", "4096"));
  CHECK(qwen.slidingWindow == 0);  // use_sliding_window is off
  const ModelConfig gemma = good(Config::llama().with("model_type", "\"gemma2\""));
  CHECK(gemma.isWindowed(0));
  CHECK(!gemma.isWindowed(1));
  const ModelConfig sparse =
      good(Config::deepseek().with("first_k_dense_replace", "3").with("moe_layer_freq", "2"));
  CHECK(!sparse.isMoe(2));
  CHECK(!sparse.isMoe(3));
  CHECK(sparse.isMoe(4));
}

TEST_CASE("The released MPT-7B has ALiBi and no biases") {
  const Config mpt{{{"model_type", "\"mpt\""},
                    {"d_model", "4096"},
                    {"n_heads", "32"},
                    {"n_layers", "32"},
                    {"expansion_ratio", "4"},
                    {"max_seq_len", "2048"},
                    {"vocab_size", "50432"},
                    {"no_bias", "true"},
                    {"attn_config", "{\"alibi\": true, \"attn_type\": \"multihead_attention\"}"}}};
  CHECK(good(mpt).position == PositionKind::alibi);
  CHECK(parametersOf(mpt) == 6'649'286'656);  // mosaicml/mpt-7b
  CHECK(problems(mpt.with("attn_config", "{\"alibi\": 1}")) ==
        "config.json:10:28: \"alibi\" must be true or false, not a number");
  CHECK(problems(mpt.with("attn_config", "{\"qk_ln\": true}")).find("not supported for mpt") !=
        std::string::npos);
}

TEST_CASE("Falcon configs of every generation") {
  const Config falcon7b{{{"model_type", "\"falcon\""},
                         {"hidden_size", "4544"},
                         {"num_attention_heads", "71"},
                         {"num_hidden_layers", "32"},
                         {"vocab_size", "65024"},
                         {"multi_query", "true"},
                         {"parallel_attn", "true"}}};
  CHECK(good(falcon7b).kvHeads == 1);
  CHECK(parametersOf(falcon7b) == 7'217'189'760);  // lm_head is stored in tiiuae/falcon-7b
  const Config rw = falcon7b.with("multi_query", "false")
                        .with("parallel_attn", "false")
                        .with("bias", "true")
                        .with("alibi", "true");
  CHECK(good(rw).kvHeads == 71);
  CHECK(good(rw).position == PositionKind::alibi);
  CHECK(!good(rw).parallelBlock);
}
