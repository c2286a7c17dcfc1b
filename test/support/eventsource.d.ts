/**
 * What the clients of MCP name of a package that no test uses. tsconfig.json leads here, for by the condition `source`,
 * which is this workspace's own word, that package's TypeScript would be checked by our rules.
 */
export type ErrorEvent = Event
export type EventSourceInit = Record<string, unknown>
