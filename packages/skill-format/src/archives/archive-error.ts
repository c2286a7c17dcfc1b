import type { PathProblem } from './file-paths.ts'

/** An archive that is not taken; each problem is a whole sentence and names its entry, or `''` for the archive. */
export class ArchiveError extends Error {
  readonly problems: readonly PathProblem[]

  constructor(problems: readonly PathProblem[]) {
    // Enough to mend a mistake; an archive of thousands of bad paths, or of endless ones, is none.
    const listed = problems.slice(0, problemsMax).map(({ path, message }) => ({ path: cutPath(path), message }))
    super(listed.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join(' '))
    this.name = 'ArchiveError'
    this.problems = listed
  }
}

/** The error for an archive that is wrong as a whole. */
export function toArchiveError(message: string, path = ''): ArchiveError {
  return new ArchiveError([{ path, message }])
}

const problemsMax = 100
const pathCharactersMax = 300

function cutPath(path: string): string {
  return path.length > pathCharactersMax ? `${path.slice(0, pathCharactersMax)}…` : path
}
