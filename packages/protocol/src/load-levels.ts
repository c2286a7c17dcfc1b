/** How much of a skill to load (docs/api.md#a-loaded-skill), least first. Each level includes the previous one. */
export const loadLevels = ['metadata', 'contract', 'summary', 'full'] as const
/** One of `loadLevels`. */
export type LoadLevel = (typeof loadLevels)[number]
