/** A problem of one file of a version; `path` is `''` for the version as a whole. */
export interface PathProblem {
  readonly path: string
  readonly message: string
}

/** An archive that is rejected. Each problem is a whole sentence with its entry's path, or `''` for the archive. */
export class ArchiveError extends Error {
  readonly problems: readonly PathProblem[]

  constructor(problems: readonly PathProblem[]) {
    // Limit the list: an archive may have thousands of bad paths, or very long ones.
    const listed = problems.slice(0, problemsMax).map(({ path, message }) => ({ path: cutPath(path), message }))
    super(listed.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join(' '))
    this.name = 'ArchiveError'
    this.problems = listed
  }
}

/** Creates the error for a problem of the whole archive. */
export function toArchiveError(message: string, path = ''): ArchiveError {
  return new ArchiveError([{ path, message }])
}

const problemsMax = 100
const pathCharactersMax = 300

function cutPath(path: string): string {
  return path.length > pathCharactersMax ? `${path.slice(0, pathCharactersMax)}…` : path
}
