import { createSigningPair, signBundle } from '@skillstead/scanner/bundle'

/** A rule of a bundle that no built-in rule is like. */
export const quokkaRule = {
  id: 'quokka-order',
  category: 'tool-abuse',
  severity: 'high',
  signal: 'suspicious',
  title: 'Orders a quokka',
  why: 'Quokkas are protected.',
  remediation: 'Remove the order.',
  patterns: [String.raw`\b${'${verbs}'} (a|the) quokka\b`],
  examples: { hit: ['Please order the quokka.'], miss: ['A quokka is an animal.', 'Never order a quokka.'] },
} as const

/** A document with {@link quokkaRule}. */
export const toDocument = (changes: object = {}, ruleChanges: object = {}) => ({
  format: 'skillstead-rules/v1',
  release: 1,
  date: '2026-11-24',
  words: { verbs: ['order', 'buy'] },
  rules: [{ ...quokkaRule, ...ruleChanges }],
  ...changes,
})

/** The key of the test's publisher of rules, and that of another one. */
export const publisher = createSigningPair('rules.example.com')
export const stranger = createSigningPair('stranger.example.com')

/** A signed bundle with {@link quokkaRule}. */
export const makeBundle = (changes: object = {}, ruleChanges: object = {}, key = publisher) =>
  signBundle(JSON.stringify(toDocument(changes, ruleChanges)), key.signingKey)
