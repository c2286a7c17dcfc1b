/** What an API key may be used for: reading, publishing, or everything that its user may do. */
export const scopes = ['read', 'publish', 'manage'] as const
export type Scope = (typeof scopes)[number]
