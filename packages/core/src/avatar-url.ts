/** The path of a user's picture on this node. */
export function toAvatarUrl(username: string): string {
  return `/api/v1/users/${username}/avatar`
}
