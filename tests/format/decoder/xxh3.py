# SPDX-License-Identifier: Apache-2.0
"""XXH3-64 with a seed, as xxHash 0.8 defines it, by its own secret."""

import struct

MASK64 = (1 << 64) - 1
PRIME32_1, PRIME32_2, PRIME32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
PRIME64_1 = 0x9E3779B185EBCA87
PRIME64_2 = 0xC2B2AE3D27D4EB4F
PRIME64_3 = 0x165667B19E3779F9
PRIME64_4 = 0x85EBCA77C2B2AE63
PRIME64_5 = 0x27D4EB2F165667C5

SECRET = bytes.fromhex("""
    b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f
    cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c
    3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8
    a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364
    eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e
    2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e
""")

STRIPE_SIZE = 64
STRIPES_PER_BLOCK = (len(SECRET) - STRIPE_SIZE) // 8


def words_at(secret, offset, count):
    return struct.unpack_from("<%dQ" % count, secret, offset)


# The words of the secret from each byte on.
WORD = [words_at(SECRET, i, 1)[0] for i in range(len(SECRET) - 7)]


def fold(a, b):
    product = a * b
    return (product ^ product >> 64) & MASK64


def rotate(x, bits):
    return (x << bits | x >> 64 - bits) & MASK64


def avalanche(h):
    h = (h ^ h >> 37) * 0x165667919E3779F9 & MASK64
    return h ^ h >> 32


def avalanche_of_xxh64(h):
    h = (h ^ h >> 33) * PRIME64_2 & MASK64
    h = (h ^ h >> 29) * PRIME64_3 & MASK64
    return h ^ h >> 32


def hash_to_16(data, seed):
    size = len(data)
    if size > 8:
        low = int.from_bytes(data[:8], "little")
        last = int.from_bytes(data[-8:], "little")
        low ^= ((WORD[24] ^ WORD[32]) + seed) & MASK64
        last ^= ((WORD[40] ^ WORD[48]) - seed) & MASK64
        swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
        return avalanche((size + swapped + last + fold(low, last)) & MASK64)
    if size >= 4:
        swapped = int.from_bytes((seed & 0xFFFFFFFF).to_bytes(4, "little"),
                                 "big")
        seed ^= swapped << 32
        first = int.from_bytes(data[:4], "little")
        last = int.from_bytes(data[-4:], "little")
        h = last + (first << 32) ^ ((WORD[8] ^ WORD[16]) - seed) & MASK64
        h ^= rotate(h, 49) ^ rotate(h, 24)
        h = h * 0x9FB21C651E98DF25 & MASK64
        h ^= (h >> 35) + size
        h = h * 0x9FB21C651E98DF25 & MASK64
        return h ^ h >> 28
    if size > 0:
        combined = (data[0] << 16 | data[size >> 1] << 24 | size << 8 |
                    data[-1])
        flip = ((WORD[0] ^ WORD[4]) & 0xFFFFFFFF) + seed
        return avalanche_of_xxh64((combined ^ flip) & MASK64)
    return avalanche_of_xxh64(seed ^ WORD[56] ^ WORD[64])


def mix_16(data, at, secret_at, seed):
    low, last = struct.unpack_from("<2Q", data, at)
    return fold(low ^ (WORD[secret_at] + seed) & MASK64,
                last ^ (WORD[secret_at + 8] - seed) & MASK64)


def hash_to_128(data, seed):
    size = len(data)
    total = size * PRIME64_1
    for i in range((size - 1) // 32 + 1):
        total += mix_16(data, 16 * i, 32 * i, seed)
        total += mix_16(data, size - 16 * (i + 1), 32 * i + 16, seed)
    return avalanche(total & MASK64)


def hash_to_240(data, seed):
    size = len(data)
    total = size * PRIME64_1
    for i in range(8):
        total += mix_16(data, 16 * i, 16 * i, seed)
    total = avalanche(total & MASK64)
    for i in range(8, size // 16):
        total += mix_16(data, 16 * i, 16 * (i - 8) + 3, seed)
    total += mix_16(data, size - 16, 136 - 17, seed)
    return avalanche(total & MASK64)


def accumulate(lanes, stripe, keys):
    for i in range(8):
        value = stripe[i]
        key = value ^ keys[i]
        lanes[i ^ 1] += value
        lanes[i] = lanes[i] + (key & 0xFFFFFFFF) * (key >> 32) & MASK64


def scramble(lanes, keys):
    for i in range(8):
        lane = lanes[i] & MASK64
        lanes[i] = (lane ^ lane >> 47 ^ keys[i]) * PRIME32_1 & MASK64


def hash_long(data, seed):
    secret = SECRET
    if seed != 0:
        words = words_at(SECRET, 0, len(SECRET) // 8)
        secret = struct.pack("<%dQ" % len(words), *(
            (word - seed if i % 2 else word + seed) & MASK64
            for i, word in enumerate(words)))
    size = len(data)
    keys = [words_at(secret, 8 * i, 8) for i in range(STRIPES_PER_BLOCK + 1)]
    lanes = [PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3,
             PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1]
    for stripe in range((size - 1) // STRIPE_SIZE):
        in_block = stripe % STRIPES_PER_BLOCK
        accumulate(lanes, struct.unpack_from("<8Q", data, 64 * stripe),
                   keys[in_block])
        if in_block + 1 == STRIPES_PER_BLOCK:
            scramble(lanes, keys[-1])
    accumulate(lanes, struct.unpack_from("<8Q", data, size - STRIPE_SIZE),
               words_at(secret, len(secret) - STRIPE_SIZE - 7, 8))
    total = size * PRIME64_1
    merge = words_at(secret, 11, 8)
    for i in range(0, 8, 2):
        total += fold(lanes[i] & MASK64 ^ merge[i],
                      lanes[i + 1] & MASK64 ^ merge[i + 1])
    return avalanche(total & MASK64)


def xxh3_64(data, seed=0):
    size = len(data)
    if size <= 16:
        return hash_to_16(data, seed)
    if size <= 128:
        return hash_to_128(data, seed)
    if size <= 240:
        return hash_to_240(data, seed)
    return hash_long(data, seed)
