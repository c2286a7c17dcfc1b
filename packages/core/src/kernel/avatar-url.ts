/** The path of a user's picture on this node. The server prepends the public address after the response cache. */
export function toAvatarUrl(username: string): string {
  return `/api/v1/users/${username}/avatar`
}
