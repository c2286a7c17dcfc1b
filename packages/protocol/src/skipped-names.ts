const skipped: ReadonlySet<string> = new Set(['.git', '.hg', '.svn', 'node_modules', '.DS_Store', '__MACOSX'])

/** Whether files and folders of this name belong to version control, an operating system or a tool, and to no skill. */
export function isSkippedName(name: string): boolean {
  return skipped.has(name) || name.startsWith('._')
}

/** The path up to its first segment for which {@link isSkippedName} is true; undefined without such a segment. */
export function findSkippedPath(path: string): string | undefined {
  const segments = path.split('/')
  const at = segments.findIndex(isSkippedName)
  return at === -1 ? undefined : segments.slice(0, at + 1).join('/')
}
