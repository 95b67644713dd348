// What identifies a step: values that must share a key, and values that must not.
#include "ir/step.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace aee {
namespace {

using Sizes = std::vector<std::int64_t>;
using Write = std::function<void(StepWriter&)>;
constexpr std::uint8_t kFloat = 6, kLong = 4;

class StepKey : public testing::Test {
 protected:
  struct Key {
    std::vector<std::uint64_t> words;
    std::uint64_t hash;
    bool operator==(const Key& other) const { return words == other.words; }
  };

  /// The key of a step of `op` whose arguments `write` adds.
  Key key(const Op& op, const Write& write, std::uint64_t state = 0) {
    writer_.begin(op, state);
    write(writer_);
    writer_.finish();
    return {{writer_.key().begin(), writer_.key().end()}, writer_.hash()};
  }
  Key key(const Write& write) { return key(add_, write); }
  /// All keys differ from each other, and so do their hashes.
  void expect_apart(const std::vector<Write>& writes, const Op& op) {
    std::set<std::vector<std::uint64_t>> keys;
    std::set<std::uint64_t> hashes;
    for (std::size_t i = 0; i < writes.size(); ++i) {
      const Key made = key(op, writes[i]);
      EXPECT_TRUE(keys.insert(made.words).second) << "number " << i << " shares its key with an earlier one";
      EXPECT_TRUE(hashes.insert(made.hash).second) << i;
    }
  }
  void expect_apart(const std::vector<Write>& writes) { expect_apart(writes, add_); }

  /// A view of a buffer.
  static void view(StepWriter& writer, Buffer& buffer, std::int64_t offset, const Sizes& sizes, std::uint8_t flags = 0,
                   std::uint8_t dtype = kFloat, Sizes strides = {}) {
    if (strides.empty()) {
      strides.assign(sizes.size(), 1);
      for (std::size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
    }
    writer.tensor(&buffer,
                  {dtype, flags, static_cast<std::uint8_t>(sizes.size()), offset, sizes.data(), strides.data()});
  }

  const Op add_{"aten::add.Tensor", 3, kScalarsAreData}, pow_{"aten::pow.Tensor_Scalar", 4, kPlain};
  StepWriter writer_;
  Buffer a_, b_, c_;
};

TEST_F(StepKey, NumbersBuffersByFirstTouch) {
  const auto of = [this](Buffer& x, Buffer& y, Buffer& z) {
    return key([&](StepWriter& writer) {
      for (Buffer* buffer : {&x, &y, &z}) view(writer, *buffer, 0, {4});
    });
  };
  EXPECT_EQ(of(a_, b_, c_), of(c_, a_, b_));
  EXPECT_EQ(of(a_, b_, a_), of(c_, b_, c_));
  EXPECT_FALSE(of(a_, b_, a_) == of(a_, a_, b_));
  EXPECT_FALSE(of(a_, b_, a_) == of(a_, b_, c_));
  EXPECT_EQ(of(a_, b_, c_).hash, of(c_, a_, b_).hash);
  of(a_, b_, a_);
  ASSERT_EQ(writer_.slots().size(), 2U);
  EXPECT_EQ(writer_.slots()[0].buffer, &a_);
  EXPECT_EQ(writer_.slots()[1].buffer, &b_);
}

TEST_F(StepKey, HasTheOpAndTheStateOfThatTime) {
  const Write nothing = [](StepWriter&) {};
  EXPECT_FALSE(key(add_, nothing) == key(pow_, nothing));
  EXPECT_FALSE(key(add_, nothing, 1) == key(add_, nothing, 2));  // as after set_default_dtype
  EXPECT_EQ(key(add_, nothing, 1), key(add_, nothing, 1));
}

TEST_F(StepKey, HasLayoutsAndFlagsOfOperands) {
  expect_apart({[&](StepWriter& w) { view(w, a_, 0, {4}); }, [&](StepWriter& w) { view(w, a_, 0, {5}); },
                [&](StepWriter& w) { view(w, a_, 0, {4, 1}); }, [&](StepWriter& w) { view(w, a_, 0, {1, 4}); },
                [&](StepWriter& w) { view(w, a_, 0, {}); }, [&](StepWriter& w) { view(w, a_, 0, {0}); },
                [&](StepWriter& w) { view(w, a_, 0, {4}, 0, kFloat, {2}); },
                [&](StepWriter& w) { view(w, a_, 0, {4}, 0, kFloat, {0}); },
                [&](StepWriter& w) { view(w, a_, 0, {4}, 0, kLong); },
                [&](StepWriter& w) { view(w, a_, 0, {4}, kConjugate); },
                [&](StepWriter& w) { view(w, a_, 0, {4}, kNegative); },
                [&](StepWriter& w) { view(w, a_, 0, {4}, kWrappedNumber); },
                [&](StepWriter& w) { view(w, a_, 0, {4}, kWritten); },
                [&](StepWriter& w) { view(w, a_, 0, {4}, kRequiresGrad); }, [&](StepWriter& w) { w.none(); },
                [&](StepWriter& w) { w.undefined(); }, [&](StepWriter& w) { w.host_scalar(kFloat, 0, {0, 0}, 1); }});
}

TEST_F(StepKey, HasNoOffsets) {
  const auto row = [this](std::int64_t i) {  // m[i] = v: the index moves, the key stays
    return key([&](StepWriter& writer) {
      view(writer, a_, 8 * i, {8}, kWritten);
      view(writer, b_, 0, {8});
    });
  };
  for (std::int64_t i = 1; i < 10; ++i) EXPECT_EQ(row(i), row(0));
  row(3);
  StepReader reader(writer_.key(), writer_.params().data());
  EXPECT_EQ(reader.head().count, 0U);
  EXPECT_EQ(reader.param(), 24U) << "what runs the op has the offset";
}

/// x[to : to + 5].add_(x[from : from + 5])
class StepRelation : public StepKey {
 protected:
  Key in_place(std::int64_t to, std::int64_t from, std::uint8_t other_flags = 0) {
    return key([&](StepWriter& writer) {
      view(writer, a_, to, {5}, kWritten);
      view(writer, a_, from, {5}, other_flags);
    });
  }
};

TEST_F(StepRelation, OfAWrittenOperandToAnotherOneOnItsBufferIsInTheKey) {
  EXPECT_FALSE(in_place(10, 0) == in_place(1, 0)) << "disjoint, and partial overlap, which raises";
  EXPECT_FALSE(in_place(0, 0) == in_place(1, 0)) << "the same place, and partial overlap";
  EXPECT_FALSE(in_place(0, 0) == in_place(10, 0));
  EXPECT_FALSE(in_place(1, 0) == in_place(0, 1));
}

TEST_F(StepRelation, MovesWithBothOperands) {
  EXPECT_EQ(in_place(10, 0), in_place(30, 20));
  EXPECT_EQ(in_place(1, 0), in_place(8, 7));
  EXPECT_EQ(in_place(3, 3), in_place(0, 0));
}

TEST_F(StepRelation, OfAnOutOperandIsInTheKeyToo) {
  const auto out = [this](std::int64_t from, std::int64_t to) {
    return key([&](StepWriter& writer) {
      view(writer, a_, from, {5});
      view(writer, b_, 0, {5});
      view(writer, a_, to, {5}, kWritten);
    });
  };
  EXPECT_FALSE(out(0, 1) == out(0, 10));
  EXPECT_EQ(out(0, 10), out(5, 15));
}

TEST_F(StepRelation, OfOperandsThatAreOnlyReadIsNot) {
  const auto read = [this](std::int64_t x, std::int64_t y) {
    return key([&](StepWriter& writer) {
      view(writer, a_, x, {5});
      view(writer, a_, y, {5});
    });
  };
  EXPECT_EQ(read(0, 1), read(0, 10));
  EXPECT_EQ(read(0, 1), read(7, 7));
}

TEST_F(StepKey, HasTheClassOfADataScalarAndTheValueOfAnyOther) {
  const auto scaled = [this](const Op& op, std::int64_t value) {
    return key(op, [&](StepWriter& writer) {
      writer.scalar(Tag::kScalarInt, static_cast<std::uint64_t>(value), 0, integer_class(value));
    });
  };
  EXPECT_EQ(scaled(add_, 5), scaled(add_, 6)) << "y.add(x, alpha=5): a value that changes every call is one trace";
  EXPECT_FALSE(scaled(add_, 1) == scaled(add_, 5));
  EXPECT_FALSE(scaled(add_, -5) == scaled(add_, 5));
  EXPECT_FALSE(scaled(add_, 300) == scaled(add_, 5)) << "fill_(int8, 300) raises";
  EXPECT_FALSE(scaled(pow_, 2) == scaled(pow_, 3));
  EXPECT_FALSE(scaled(pow_, 2) == scaled(pow_, -1)) << "an integer to a negative power raises";
  EXPECT_FALSE(scaled(pow_, 5) == scaled(pow_, 6)) << "as arange(5) and arange(6), whose sizes differ";
  const auto word = [](Tag tag) { return [tag](StepWriter& writer) { writer.scalar(tag, 1, 0, 2); }; };
  expect_apart({word(Tag::kScalarInt), word(Tag::kScalarDouble), word(Tag::kScalarBool), word(Tag::kScalarComplex)});
}

TEST_F(StepKey, HasTheClassOfAHostScalarButNotItsValue) {
  const auto scaled = [this](std::uint64_t bytes, std::uint64_t scalar_class) {
    return key([&](StepWriter& writer) { writer.host_scalar(kFloat, kWrappedNumber, {bytes, 0}, scalar_class); });
  };
  EXPECT_EQ(scaled(1, 5), scaled(2, 5));
  EXPECT_FALSE(scaled(1, 5) == scaled(1, 6));
}

TEST(ScalarClass, OfIntegersTellsWhatFitsWhere) {
  for (const auto& [a, b] : {std::pair<std::int64_t, std::int64_t>{2, 127},
                             {-1, -128},
                             {128, 255},
                             {256, 32767},
                             {-129, -32768},
                             {40000, 65535},
                             {70000, 2147483647},
                             {3000000000, 4294967295},
                             {5000000000, std::numeric_limits<std::int64_t>::max()}}) {
    EXPECT_EQ(integer_class(a), integer_class(b)) << a;
  }
  std::set<std::uint64_t> classes;
  const std::int64_t apart[] = {0,     1,      2,       -1,         200,        300,        -300,
                                40000, 100000, -100000, 3000000000, 5000000000, -5000000000};
  for (const std::int64_t value : apart) EXPECT_TRUE(classes.insert(integer_class(value)).second) << value;
}

TEST(ScalarClass, OfRealsTellsSpecialValuesSignsAndRanges) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(real_class(0.1), real_class(0.7));
  EXPECT_EQ(real_class(1e-3), real_class(1e-30));
  EXPECT_EQ(real_class(2.5), real_class(60000.5));
  EXPECT_EQ(real_class(2.0), real_class(100.0));
  EXPECT_EQ(real_class(0.0), real_class(-0.0));
  std::set<std::uint64_t> classes;
  for (const double value : {0.0, 1.0, -1.0, 2.0, 0.5, -0.5, 2.5, -2.5, 1e30, 1e300, kInfinity, -kInfinity,
                             std::numeric_limits<double>::quiet_NaN(), 300.0, 70000.0}) {
    EXPECT_TRUE(classes.insert(real_class(value)).second) << value;
  }
  for (const std::int64_t value : {0, 1, 5}) {
    EXPECT_NE(integer_class(value), real_class(static_cast<double>(value))) << "1 and 1.0 promote differently";
  }
}

TEST_F(StepKey, KeepsNeighbouringListsApart) {
  const auto integers = [](std::vector<Sizes> lists) {
    return [lists](StepWriter& writer) {
      for (const Sizes& list : lists) writer.integers(list);
    };
  };
  const auto texts = [](std::vector<std::string> texts) {
    return [texts](StepWriter& writer) {
      for (const std::string& text : texts) writer.string(text);
    };
  };
  const auto tensors = [this](std::vector<std::size_t> counts) {
    return [this, counts](StepWriter& writer) {
      for (const std::size_t count : counts) {
        writer.list(Tag::kTensorList, count);
        for (std::size_t i = 0; i < count; ++i) view(writer, a_, 0, {2});
      }
    };
  };
  expect_apart({integers({{1, 2}, {3}}),
                integers({{1}, {2, 3}}),
                integers({{1, 2, 3}, {}}),
                integers({{}, {1, 2, 3}}),
                integers({{1, 2, 3}}),
                integers({{}}),
                integers({{}, {}}),
                texts({"ab", "c"}),
                texts({"a", "bc"}),
                texts({"abc", ""}),
                texts({"", "abc"}),
                texts({"abc"}),
                texts({std::string("abc\0", 4)}),
                texts({"abcdefgh", "i"}),
                texts({"abcdefghi"}),
                tensors({2, 1}),
                tensors({1, 2}),
                tensors({3, 0}),
                tensors({0, 3}),
                tensors({3}),
                tensors({0}),
                [](StepWriter& writer) { writer.list(Tag::kScalarList, 0); },
                [](StepWriter& writer) { writer.list(Tag::kBoolList, 0); },
                [](StepWriter& writer) { writer.reals({}); },
                [](StepWriter& writer) { writer.none(); },
                [](StepWriter&) {}});
}

TEST_F(StepKey, KeepsKindsOfValuesApart) {
  expect_apart({[](StepWriter& w) { w.integer(1); }, [](StepWriter& w) { w.integer(2); },
                [](StepWriter& w) { w.boolean(true); }, [](StepWriter& w) { w.boolean(false); },
                [](StepWriter& w) { w.real(1.0); }, [](StepWriter& w) { w.real(-0.0); },
                [](StepWriter& w) { w.real(0); }, [](StepWriter& w) { w.integers(Sizes{1}); },
                [](StepWriter& w) { w.reals(std::vector<double>{1}); }, [](StepWriter& w) { w.device(); }});
}

TEST_F(StepKey, OrdersDrawsByWritingTheGenerator) {
  const auto draw = [this](Buffer& state) { return key([&](StepWriter& writer) { writer.generator(&state); }); };
  EXPECT_EQ(draw(a_), draw(b_));
  ASSERT_EQ(writer_.slots().size(), 1U);
  EXPECT_TRUE(writer_.slots()[0].written);
}

TEST_F(StepKey, LeavesWhatRunsTheOpDecodable) {
  key([&](StepWriter& writer) {
    view(writer, a_, 7, {2, 3}, kWritten);
    writer.scalar(Tag::kScalarComplex, 11, 12, 1);
    writer.integers(Sizes{4, -5});
    writer.none();
  });
  StepReader reader(writer_.key(), writer_.params().data());
  const Head tensor = reader.head();
  EXPECT_EQ(tensor.tag, Tag::kTensor);
  EXPECT_EQ(tensor.dtype, kFloat);
  EXPECT_EQ(tensor.rank, 2);
  EXPECT_EQ(tensor.flags, kWritten);
  for (const std::uint64_t word : {2, 3, 3, 1}) EXPECT_EQ(reader.word(), word);
  EXPECT_EQ(reader.param(), 7U);
  EXPECT_EQ(reader.head().tag, Tag::kScalarComplex);
  EXPECT_EQ(reader.word(), 1U) << "the class";
  EXPECT_EQ(reader.param(), 11U);
  EXPECT_EQ(reader.param(), 12U);
  EXPECT_EQ(reader.head().count, 2U);
  EXPECT_EQ(reader.word(), 4U);
  EXPECT_EQ(static_cast<std::int64_t>(reader.word()), -5);
  EXPECT_EQ(reader.head().tag, Tag::kNone);
  EXPECT_EQ(reader.position(), writer_.key().data() + writer_.key().size());
}

TEST_F(StepKey, IsComparedInsteadOfWrittenWhereOneIsExpected) {
  const auto expects = [this](const std::vector<std::uint64_t>& expected, const Op& op, std::uint64_t state,
                              const Write& write) {
    writer_.begin(op, state, expected);
    write(writer_);
    writer_.finish();
    return writer_.matched();
  };
  const auto call = [this](std::int64_t offset, const Sizes& sizes, std::uint64_t value) {
    return [=, this](StepWriter& writer) {
      view(writer, a_, offset, sizes, kWritten);
      view(writer, a_, offset + 100, sizes);
      writer.scalar(Tag::kScalarInt, value, 0, 5);
    };
  };
  const std::vector<std::uint64_t> known = key(add_, call(0, {2, 3}, 1), 7).words;
  EXPECT_TRUE(expects(known, add_, 7, call(4, {2, 3}, 9)));
  EXPECT_TRUE(writer_.key().empty());
  ASSERT_EQ(writer_.params().size(), 3U);
  EXPECT_EQ(writer_.params()[1], 104U);
  EXPECT_EQ(writer_.params()[2], 9U);
  EXPECT_FALSE(expects(known, add_, 7, call(0, {3, 2}, 1)));
  EXPECT_FALSE(expects(known, add_, 7, [this](StepWriter& writer) { view(writer, a_, 0, {2, 3}, kWritten); }));
  EXPECT_FALSE(expects(known, add_, 7, [&](StepWriter& writer) {
    call(0, {2, 3}, 1)(writer);
    writer.none();
  }));
  EXPECT_FALSE(expects(known, add_, 8, call(0, {2, 3}, 1))) << "another state: the key is written";
  EXPECT_FALSE(writer_.expecting());
  EXPECT_FALSE(expects(known, pow_, 7, call(0, {2, 3}, 1)));
}

TEST_F(StepKey, HoldsStepsOfManyOperands) {
  std::vector<Buffer> buffers(300);
  const Key made = key([&](StepWriter& writer) {
    writer.list(Tag::kTensorList, buffers.size());
    for (Buffer& buffer : buffers) view(writer, buffer, 0, {2});
  });
  EXPECT_EQ(writer_.slots().size(), buffers.size());
  EXPECT_EQ(made.words.size(), 2 + 1 + 3 * buffers.size());
}

}  // namespace
}  // namespace aee
