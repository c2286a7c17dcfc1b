/**
 * The path of a user's picture on this node. The server prepends its public address to the path when it sends a cached
 * response.
 */
export function toAvatarUrl(username: string): string {
  return `/api/v1/users/${username}/avatar`
}
