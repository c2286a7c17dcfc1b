/** How much of a skill to load, from least to most (specification 2.4). Each level includes the previous one. */
export const loadLevels = ['metadata', 'contract', 'summary', 'full'] as const
export type LoadLevel = (typeof loadLevels)[number]
