/** Steps for repetitions: each part of the code is followed once in any case. */
const extraStepsMax = 60_000

/** Counts the work of an evaluation, and knows whether the code that is followed may not run at all. */
export class Steps {
  #extra = extraStepsMax
  #repeating = 0
  #branches = 0

  /** Whether no more repetitions should be followed. */
  get areSpent(): boolean {
    return this.#extra < 0
  }

  get isInBranch(): boolean {
    return this.#branches > 0
  }

  count(): void {
    if (this.#repeating > 0) this.#extra--
  }

  /** Follows code, whose steps count if it is followed again. */
  repeat<T>(isAgain: boolean, follow: () => T): T {
    this.#repeating += Number(isAgain)
    const result = follow()
    this.#repeating -= Number(isAgain)
    return result
  }

  /** Follows code that may not run. */
  branch<T>(follow: () => T): T {
    this.#branches++
    const result = follow()
    this.#branches--
    return result
  }

  /** Follows a function, which begins outside of all branches. */
  enter<T>(follow: () => T): T {
    const branches = this.#branches
    this.#branches = 0
    const result = follow()
    this.#branches = branches
    return result
  }
}
