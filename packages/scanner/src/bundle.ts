/** Signed bundles of rules: a separate entry point, because most scans use none. */
export { createSigningPair, type SigningPair } from './bundles/signing-key.ts'
export { signBundle, verifyBundle, type RulesBundle } from './bundles/rules-bundle.ts'
export { bundleLimits } from './rules/bundle-limits.ts'
