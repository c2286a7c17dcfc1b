/** Records active and past machine faults, and the violations found. */
export function createTrouble() {
  const history: string[] = []
  const faults: string[] = []
  const excuses = { writes: { open: 0, begun: 0 }, reads: { open: 0, begun: 0 }, files: { open: 0, begun: 0 } }
  let isOver = false

  function begin(kind: Kind): void {
    excuses[kind].open += 1
    excuses[kind].begun += 1
  }
  function end(kind: Kind): void {
    excuses[kind].open -= 1
  }

  return {
    /** The machine faults so far, the latest last. */
    history,
    faults,
    /** Reports a violation together with the latest machine faults. */
    report(fault: string): void {
      faults.push(`after [${history.slice(-6).join(', ')}] ${fault}`)
    },
    /** Reports a violation after which the run cannot continue. */
    end(fault: string): void {
      isOver = true
      this.report(fault)
    },
    get isOver() {
      return isOver
    },
    note: (what: string) => void history.push(what),
    /** Runs a fault of the storage. While it runs, 503 is a correct response to these requests. */
    async excuse<T>(what: Excused, work: () => Promise<T>): Promise<T> {
      for (const kind of kindsOf(what)) begin(kind)
      return work().finally(() => kindsOf(what).forEach(end))
    },
    /** Starts watching. The returned function tells whether 503 was a correct response at any time since then. */
    excuses(kind: Kind): () => boolean {
      const before = { ...excuses[kind] }
      return () => before.open > 0 || excuses[kind].begun > before.begun
    },
  }
}

export type Trouble = ReturnType<typeof createTrouble>

/** What a fault concerns. Large files are in the bucket, and their reads are not `reads`. */
export type Kind = 'writes' | 'reads' | 'files'
type Excused = 'writes' | 'files' | 'all'

function kindsOf(what: Excused): Kind[] {
  return what === 'all' ? ['writes', 'reads', 'files'] : [what]
}
