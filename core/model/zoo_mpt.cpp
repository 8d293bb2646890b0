#include "core/model/zoo_entries.h"

namespace vsim::core {
namespace {

// Sizes of mosaicml/llm-foundry's pretraining configurations (scripts/train/yamls/pretrain/mpt-*.yaml, and
// the benchmark's 70b). Its published throughput tables state parameter counts that fit the library's
// defaults: biases everywhere and a learned position table with a row per token of the sequence (7b at 2,048
// tokens: 6.65886 B); the table follows max_seq_len, 2,048 in the yaml files. The released MPT-7B differs
// from them (ALiBi, no biases): read its config.json to get it.
constexpr const char* kSource =
    "mosaicml/llm-foundry pretraining configuration: biases, learned positions for 2,048 tokens";

constexpr ZooEntry kMpt[] = {
    {"mpt-125m", kSource,
     R"({"model_type": "mpt", "d_model": 768, "n_heads": 12, "n_layers": 12, "vocab_size": 50368,
         "max_seq_len": 2048})"},
    {"mpt-350m", kSource,
     R"({"model_type": "mpt", "d_model": 1024, "n_heads": 16, "n_layers": 24, "vocab_size": 50368,
         "max_seq_len": 2048})"},
    {"mpt-760m", kSource,
     R"({"model_type": "mpt", "d_model": 1536, "n_heads": 12, "n_layers": 24, "vocab_size": 50368,
         "max_seq_len": 2048})"},
    {"mpt-1b", kSource,
     R"({"model_type": "mpt", "d_model": 2048, "n_heads": 16, "n_layers": 24, "vocab_size": 50368,
         "max_seq_len": 2048})"},
    {"mpt-3b", kSource,
     R"({"model_type": "mpt", "d_model": 2560, "n_heads": 20, "n_layers": 32, "vocab_size": 50368,
         "max_seq_len": 2048})"},
    {"mpt-7b", kSource,
     R"({"model_type": "mpt", "d_model": 4096, "n_heads": 32, "n_layers": 32, "vocab_size": 50368,
         "max_seq_len": 2048})"},
    {"mpt-13b", kSource,
     R"({"model_type": "mpt", "d_model": 5120, "n_heads": 40, "n_layers": 40, "vocab_size": 50368,
         "max_seq_len": 2048})"},
    {"mpt-30b", kSource,
     R"({"model_type": "mpt", "d_model": 7168, "n_heads": 56, "n_layers": 48, "vocab_size": 50368,
         "max_seq_len": 2048})"},
    {"mpt-70b", kSource,
     R"({"model_type": "mpt", "d_model": 8192, "n_heads": 64, "n_layers": 80, "vocab_size": 50368,
         "max_seq_len": 2048})"},
};

}  // namespace

std::span<const ZooEntry> mptZoo() { return kMpt; }

}  // namespace vsim::core
