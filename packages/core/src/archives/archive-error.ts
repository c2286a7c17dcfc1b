import type { PathProblem } from './file-paths.ts'

/** An archive that is not taken; each problem is a whole sentence and names its entry, or `''` for the archive. */
export class ArchiveError extends Error {
  readonly problems: readonly PathProblem[]

  constructor(problems: readonly PathProblem[]) {
    super(problems.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join(' '))
    this.name = 'ArchiveError'
    // Enough to mend a mistake; an archive of thousands of bad paths is none.
    this.problems = problems.slice(0, problemsMax)
  }
}

/** The error for an archive that is wrong as a whole. */
export function toArchiveError(message: string, path = ''): ArchiveError {
  return new ArchiveError([{ path, message }])
}

const problemsMax = 100
