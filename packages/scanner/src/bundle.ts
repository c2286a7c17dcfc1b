/** Signed bundles of rules, as a separate entry point: most scans have none. */
export { createSigningPair, type SigningPair } from './bundles/signing-key.ts'
export { signBundle, verifyBundle, type RulesBundle } from './bundles/rules-bundle.ts'
export { bundleLimits } from './rules/bundle-limits.ts'
