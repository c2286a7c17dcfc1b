/** Scopes of API keys: read, publish, or manage everything that the user may manage. */
export const scopes = ['read', 'publish', 'manage'] as const
/** What a key may do. */
export type Scope = (typeof scopes)[number]
