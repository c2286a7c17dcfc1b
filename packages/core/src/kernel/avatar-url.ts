/** The path of a user's picture on this node. Answers are cached with it; the server adds the address of each request. */
export function toAvatarUrl(username: string): string {
  return `/api/v1/users/${username}/avatar`
}
