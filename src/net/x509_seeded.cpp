// Keys and signatures that follow from given random numbers (--seed). OpenSSL's own functions take no random numbers from their
// caller, so this file finds primes, chooses scalars and computes the nonce of a signature.
#include "base/check.h"
#include "net/hmac.h"
#include "net/openssl.h"

#include <algorithm>
#include <array>

namespace slipway::net {

namespace {

constexpr int prime_bits = 1024;
constexpr std::size_t prime_size = prime_bits / 8;
constexpr unsigned public_exponent = RSA_F4;
constexpr unsigned sieve_limit = 18'000;    // dividing by all smaller primes costs as much as one primality test
constexpr unsigned search_length = 20'000;  // primes are 710 apart on average

using Context = Handle<BN_CTX, BN_CTX_free>;
using Group = Handle<EC_GROUP, EC_GROUP_free>;
using Point = Handle<EC_POINT, EC_POINT_clear_free>;
using Signature = Handle<ECDSA_SIG, ECDSA_SIG_free>;

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }
unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

Number make_number() {
  Number number(BN_new());
  CHECK(number != nullptr);
  BN_set_flags(number.get(), BN_FLG_CONSTTIME);
  return number;
}

Number read_number(std::string_view bytes) {
  Number number = make_number();
  CHECK(BN_bin2bn(bytes_of(bytes), static_cast<int>(bytes.size()), number.get()) != nullptr);
  return number;
}

// ---- RSA

const std::vector<unsigned>& small_primes() {
  static const std::vector<unsigned> primes = [] {
    std::vector<unsigned> found;
    for (unsigned number = 3; number < sieve_limit; number += 2) {
      if (std::ranges::none_of(found, [&](unsigned prime) { return prime * prime <= number && number % prime == 0; })) {
        found.push_back(number);
      }
    }
    return found;
  }();
  return primes;
}

// The first suitable prime after a random number. Both of its highest bits are set, so that a product of two primes has exactly
// twice as many bits.
Result<Number> draw_prime(sys::Random& random, BN_CTX* context) {
  while (true) {
    std::string drawn = TRY(random.bytes(prime_size));
    drawn.front() = static_cast<char>(drawn.front() | 0xc0);
    drawn.back() = static_cast<char>(drawn.back() | 1);
    const Number start = read_number(drawn);
    OPENSSL_cleanse(drawn.data(), drawn.size());
    std::vector<unsigned> rests;
    for (const unsigned prime : small_primes()) rests.push_back(static_cast<unsigned>(BN_mod_word(start.get(), prime)));
    for (unsigned distance = 0; distance < search_length; distance += 2) {
      bool is_divided = false;
      for (std::size_t i = 0; i < rests.size() && !is_divided; ++i) is_divided = (rests[i] + distance) % small_primes()[i] == 0;
      if (is_divided) continue;
      Number candidate = make_number();
      CHECK(BN_copy(candidate.get(), start.get()) != nullptr && BN_add_word(candidate.get(), distance) == 1);
      if (BN_num_bits(candidate.get()) != prime_bits) break;
      if (BN_mod_word(candidate.get(), public_exponent) == 1) continue;  // candidate - 1 must be coprime to the exponent
      const int is_prime = BN_check_prime(candidate.get(), context, nullptr);
      if (is_prime < 0) return problem(Code::internal, "looking for a prime");
      if (is_prime == 1) return candidate;
    }
  }
}

// ---- ECDSA

struct Curve {
  Group group;
  const BIGNUM* order = nullptr;
  std::size_t size = 0;  // of a scalar, in bytes
};

Result<Curve> curve_of(int name) {
  Curve curve{Group(EC_GROUP_new_by_curve_name(name))};
  if (!curve.group) return problem(Code::invalid, "the curve of a key");
  curve.order = EC_GROUP_get0_order(curve.group.get());
  curve.size = (static_cast<std::size_t>(BN_num_bits(curve.order)) + 7) / 8;
  return curve;
}

bool is_scalar(const BIGNUM* number, const Curve& curve) { return !BN_is_zero(number) && BN_cmp(number, curve.order) < 0; }

std::string padded(const BIGNUM* number, const Curve& curve) {
  std::string bytes(curve.size, '\0');
  CHECK(BN_bn2binpad(number, bytes_of(bytes), static_cast<int>(bytes.size())) >= 0);
  return bytes;
}

// The leading bits, as many as the order has (RFC 6979 2.3.2).
Number leading_bits(std::string_view bytes, const Curve& curve) {
  Number number = read_number(bytes);
  const int extra = static_cast<int>(8 * bytes.size()) - BN_num_bits(curve.order);
  if (extra > 0) CHECK(BN_rshift(number.get(), number.get(), extra) == 1);
  return number;
}

// The nonces for a key and a digest, in the order of RFC 6979 3.2.
class Nonces {
 public:
  Nonces(const BIGNUM* secret, const BIGNUM* digest, const Curve& curve) : curve_(curve) {
    const Number reduced = make_number();
    CHECK(BN_nnmod(reduced.get(), digest, curve.order, Context(BN_CTX_new()).get()) == 1);
    const std::string seed = padded(secret, curve) + padded(reduced.get(), curve);
    for (const char step : {'\0', '\1'}) update(step + seed);
  }

  Number next() {
    while (true) {
      std::string bytes;
      while (bytes.size() < curve_.size) {
        value_ = hmac_sha256(key_, value_);
        bytes += value_;
      }
      Number nonce = leading_bits(bytes, curve_);
      update(std::string(1, '\0'));
      if (is_scalar(nonce.get(), curve_)) return nonce;
    }
  }

 private:
  void update(const std::string& tail) {
    key_ = hmac_sha256(key_, value_ + tail);
    value_ = hmac_sha256(key_, value_);
  }

  const Curve& curve_;
  std::string key_ = std::string(32, '\0');
  std::string value_ = std::string(32, '\1');
};

}  // namespace

Result<Key> draw_rsa(sys::Random& random) {
  const Context context(BN_CTX_secure_new());
  Number p = TRY(draw_prime(random, context.get()));
  Number q = TRY(draw_prime(random, context.get()));
  if (BN_cmp(p.get(), q.get()) < 0) std::swap(p, q);
  const Number one = make_number(), e = make_number(), n = make_number(), d = make_number(), common = make_number(),
               multiple = make_number(), p1 = make_number(), q1 = make_number(), dp = make_number(), dq = make_number(),
               inverse = make_number();
  BN_CTX* const c = context.get();
  const bool is_done =
      BN_one(one.get()) == 1 && BN_set_word(e.get(), public_exponent) == 1 && BN_mul(n.get(), p.get(), q.get(), c) == 1 &&
      BN_sub(p1.get(), p.get(), one.get()) == 1 && BN_sub(q1.get(), q.get(), one.get()) == 1 &&
      BN_gcd(common.get(), p1.get(), q1.get(), c) == 1 && BN_mul(multiple.get(), p1.get(), q1.get(), c) == 1 &&
      BN_div(multiple.get(), nullptr, multiple.get(), common.get(), c) == 1 &&
      BN_mod_inverse(d.get(), e.get(), multiple.get(), c) != nullptr && BN_nnmod(dp.get(), d.get(), p1.get(), c) == 1 &&
      BN_nnmod(dq.get(), d.get(), q1.get(), c) == 1 && BN_mod_inverse(inverse.get(), q.get(), p.get(), c) != nullptr;
  if (!is_done) return problem(Code::internal, "generating a key");
  const Parameters parameters(OSSL_PARAM_BLD_new());
  for (const auto& [name, number] : {std::pair{OSSL_PKEY_PARAM_RSA_N, n.get()},
                                     {OSSL_PKEY_PARAM_RSA_E, e.get()},
                                     {OSSL_PKEY_PARAM_RSA_D, d.get()},
                                     {OSSL_PKEY_PARAM_RSA_FACTOR1, p.get()},
                                     {OSSL_PKEY_PARAM_RSA_FACTOR2, q.get()},
                                     {OSSL_PKEY_PARAM_RSA_EXPONENT1, dp.get()},
                                     {OSSL_PKEY_PARAM_RSA_EXPONENT2, dq.get()},
                                     {OSSL_PKEY_PARAM_RSA_COEFFICIENT1, inverse.get()}}) {
    OSSL_PARAM_BLD_push_BN(parameters.get(), name, number);
  }
  Key key = build_key("RSA", parameters);
  if (!key) return problem(Code::internal, "generating a key");
  return key;
}

Result<Key> draw_p256(sys::Random& random) {
  const Curve curve = TRY(curve_of(NID_X9_62_prime256v1));
  Number scalar;
  do {
    std::string drawn = TRY(random.bytes(curve.size));
    scalar = read_number(drawn);
    OPENSSL_cleanse(drawn.data(), drawn.size());
  } while (!is_scalar(scalar.get(), curve));
  const Point point(EC_POINT_new(curve.group.get()));
  std::string encoded(1 + 2 * curve.size, '\0');
  if (EC_POINT_mul(curve.group.get(), point.get(), scalar.get(), nullptr, nullptr, nullptr) != 1 ||
      EC_POINT_point2oct(curve.group.get(), point.get(), POINT_CONVERSION_UNCOMPRESSED, bytes_of(encoded), encoded.size(),
                         nullptr) != encoded.size()) {
    return problem(Code::internal, "generating a key");
  }
  return build_p256(scalar.get(), encoded);
}

Result<std::string> sign_deterministically(const EVP_PKEY* key, std::string_view text) {
  std::array<char, 64> name{};
  BIGNUM* held = nullptr;
  const bool is_read = EVP_PKEY_get_group_name(key, name.data(), name.size(), nullptr) == 1 &&
                       EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_PRIV_KEY, &held) == 1;
  const Number secret(held);
  if (!is_read) return problem(Code::internal, "signing");
  BN_set_flags(secret.get(), BN_FLG_CONSTTIME);
  const Curve curve = TRY(curve_of(OBJ_txt2nid(name.data())));
  if (!is_scalar(secret.get(), curve)) return error(Code::invalid, "the number of a private key is too large");
  std::string hash(32, '\0');
  CHECK(EVP_Digest(text.data(), text.size(), bytes_of(hash), nullptr, EVP_sha256(), nullptr) == 1);
  const Number digest = leading_bits(hash, curve);
  const Context context(BN_CTX_secure_new());
  const Point point(EC_POINT_new(curve.group.get()));
  Nonces nonces(secret.get(), digest.get(), curve);
  while (true) {
    const Number nonce = nonces.next();
    Number r = make_number(), s = make_number();
    const Number inverse = make_number();
    const bool is_done = EC_POINT_mul(curve.group.get(), point.get(), nonce.get(), nullptr, nullptr, context.get()) == 1 &&
                         EC_POINT_get_affine_coordinates(curve.group.get(), point.get(), r.get(), nullptr, context.get()) == 1 &&
                         BN_nnmod(r.get(), r.get(), curve.order, context.get()) == 1 &&
                         BN_mod_inverse(inverse.get(), nonce.get(), curve.order, context.get()) != nullptr &&
                         BN_mod_mul(s.get(), r.get(), secret.get(), curve.order, context.get()) == 1 &&
                         BN_mod_add(s.get(), s.get(), digest.get(), curve.order, context.get()) == 1 &&
                         BN_mod_mul(s.get(), s.get(), inverse.get(), curve.order, context.get()) == 1;
    if (!is_done) return problem(Code::internal, "signing");
    if (BN_is_zero(r.get()) || BN_is_zero(s.get())) continue;
    const Signature signature(ECDSA_SIG_new());
    CHECK(ECDSA_SIG_set0(signature.get(), r.release(), s.release()) == 1);
    unsigned char* der = nullptr;
    const int size = i2d_ECDSA_SIG(signature.get(), &der);
    CHECK(size > 0);
    const Bytes<unsigned char> owner(der);
    return std::string(reinterpret_cast<char*>(der), static_cast<std::size_t>(size));
  }
}

}  // namespace slipway::net
