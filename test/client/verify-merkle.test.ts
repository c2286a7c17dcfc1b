import { VerificationError, toLeafHash, verifyConsistency, verifyInclusion } from '@skillstead/client/verify'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { naiveLeaf, naivePath, naiveProof, naiveRoot } from '../support/naive-tree.ts'

const toText = (hash: Buffer) => hash.toString('base64')
const makeEntries = (count: number) => Array.from({ length: count }, (_, i) => Buffer.from(`entry ${i}`))
/** The eight leaves and the root that are the common test vectors of RFC 6962. */
const knownEntries = ['', '\0', '\u0010', ' !', '01', '@ABC', 'PQRSTUVW', '`abcdefghijklmno']
const knownRoot = Buffer.from('5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328', 'hex')

const sizes = fc.integer({ min: 1, max: 300 })
/** A tree, and the index of one of its leaves. */
const places = sizes.chain((size) => fc.record({ size: fc.constant(size), index: fc.nat(size - 1) }))
/** A tree, and one of its earlier sizes. */
const growths = sizes.chain((size) => fc.record({ size: fc.constant(size), older: fc.integer({ min: 1, max: size }) }))

function toInclusion({ size, index }: { size: number; index: number }) {
  const entries = makeEntries(size)
  return {
    index,
    treeSize: size,
    leafHash: toText(naiveLeaf(entries[index]!)),
    rootHash: toText(naiveRoot(entries)),
    proof: naivePath(index, entries).map(toText),
  }
}

function toConsistency({ size, older }: { size: number; older: number }) {
  const entries = makeEntries(size)
  return {
    olderSize: older,
    olderRootHash: toText(naiveRoot(entries.slice(0, older))),
    treeSize: size,
    rootHash: toText(naiveRoot(entries)),
    proof: naiveProof(older, entries).map(toText),
  }
}

/** Changes one bit of one hash. */
function alter(text: string, bit: number): string {
  const bytes = Buffer.from(text, 'base64')
  bytes[Math.floor(bit / 8) % 32]! ^= 1 << (bit % 8)
  return toText(bytes)
}

/** The proof with one hash changed, removed or repeated; nothing for an empty proof. */
function toWrongProofs(proof: readonly string[], pick: number, bit: number): string[][] {
  if (proof.length === 0) return []
  const at = pick % proof.length
  const hash = proof[at]!
  return [proof.with(at, alter(hash, bit)), proof.toSpliced(at, 1), proof.toSpliced(at, 0, hash)]
}

function outcomeOf(work: () => void): 'taken' | 'refused' {
  try {
    work()
    return 'taken'
  } catch (error) {
    if (error instanceof VerificationError) return 'refused'
    throw error
  }
}

describe('an inclusion proof', () => {
  it('computes the known root from the known leaves', () => {
    const entries = knownEntries.map((entry) => Buffer.from(entry))
    expect(naiveRoot(entries)).toEqual(knownRoot)
    for (const [index, entry] of knownEntries.entries()) {
      const proof = naivePath(index, entries).map(toText)
      verifyInclusion({ index, treeSize: 8, leafHash: toLeafHash(entry), rootHash: toText(knownRoot), proof })
    }
  })

  it('is accepted for every leaf of every tree', () => {
    fc.assert(
      fc.property(places, (place) => {
        expect(outcomeOf(() => verifyInclusion(toInclusion(place)))).toBe('taken')
      }),
    )
  })

  it('is rejected for another leaf index, and with any changed bit, missing hash or repeated hash', () => {
    fc.assert(
      fc.property(places, fc.nat(), fc.nat(255), (place, pick, bit) => {
        const right = toInclusion(place)
        const { index, treeSize } = right
        const elsewhere = (index + 1 + (pick % treeSize)) % (treeSize + 1)
        const wrong = [
          { ...right, index: elsewhere },
          { ...right, leafHash: alter(right.leafHash, bit) },
          { ...right, rootHash: alter(right.rootHash, bit) },
          ...toWrongProofs(right.proof, pick, bit).map((proof) => ({ ...right, proof })),
        ]
        expect(wrong.map((one) => outcomeOf(() => verifyInclusion(one)))).toEqual(wrong.map(() => 'refused'))
      }),
    )
  })

  it.each([
    [{ index: -1 }, 'A log of 5 entries has no entry at index -1.'],
    [{ index: 5 }, 'A log of 5 entries has no entry at index 5.'],
    [{ index: 0.5 }, 'has no entry at index 0.5.'],
    [{ treeSize: 0 }, 'A log of 0 entries has no entry at index 3.'],
    [{ treeSize: Number.MAX_VALUE }, 'has no entry at index 3.'],
    [{ leafHash: 'AAAA' }, 'not 32 bytes in base64'],
    [{ proof: ['%'] }, 'not 32 bytes in base64'],
  ])('with the invalid values %j is rejected with an explanation', (wrong, sentence) => {
    const right = toInclusion({ size: 5, index: 3 })
    expect(() => verifyInclusion({ ...right, ...wrong })).toThrow(sentence)
  })
})

describe('a consistency proof', () => {
  it('is accepted for every tree and each of its earlier sizes', () => {
    fc.assert(
      fc.property(growths, (growth) => {
        expect(outcomeOf(() => verifyConsistency(toConsistency(growth)))).toBe('taken')
      }),
    )
  })

  it('is rejected for a larger tree size, and with any changed bit, missing hash or repeated hash', () => {
    fc.assert(
      fc.property(growths, fc.nat(), fc.nat(255), (growth, pick, bit) => {
        const right = toConsistency(growth)
        const wrong = [
          { ...right, olderSize: right.treeSize + 1 },
          { ...right, olderRootHash: alter(right.olderRootHash, bit) },
          { ...right, rootHash: alter(right.rootHash, bit) },
          ...toWrongProofs(right.proof, pick, bit).map((proof) => ({ ...right, proof })),
        ]
        expect(wrong.map((one) => outcomeOf(() => verifyConsistency(one)))).toEqual(wrong.map(() => 'refused'))
      }),
    )
  })

  it('is empty if the earlier log was empty', () => {
    const empty = { olderSize: 0, olderRootHash: toText(naiveRoot([])), treeSize: 3, rootHash: toText(knownRoot) }
    expect(outcomeOf(() => verifyConsistency({ ...empty, proof: [] }))).toBe('taken')
    expect(outcomeOf(() => verifyConsistency({ ...empty, proof: [toText(knownRoot)] }))).toBe('refused')
  })

  it('is rejected for a rewritten log, with both roots in the error', () => {
    const right = toConsistency({ size: 6, older: 4 })
    const olderRootHash = toText(naiveRoot(makeEntries(5).slice(1)))
    expect(() => verifyConsistency({ ...right, olderRootHash })).toThrow(
      `The log of 6 entries under the root hash ${right.rootHash} does not begin with the 4 entries under ${olderRootHash}.`,
    )
  })
})
