/** What is wrong with the machine just now, what was before, and what was found that must not be. */
export function createTrouble() {
  const history: string[] = []
  const faults: string[] = []
  const excuses = { writes: { open: 0, begun: 0 }, reads: { open: 0, begun: 0 } }
  let isOver = false

  function begin(kind: Kind): void {
    excuses[kind].open += 1
    excuses[kind].begun += 1
  }
  function end(kind: Kind): void {
    excuses[kind].open -= 1
  }

  return {
    /** The faults of the machine so far, the latest last. */
    history,
    faults,
    /** Something that must not be; it is told with what had happened to the machine. */
    tell(fault: string): void {
      faults.push(`after [${history.slice(-6).join(', ')}] ${fault}`)
    },
    /** As `tell`, of what nothing can go on after. */
    end(fault: string): void {
      isOver = true
      this.tell(fault)
    },
    get isOver() {
      return isOver
    },
    note: (what: string) => void history.push(what),
    /** Runs what gives the storage a reason to refuse; until it has ended, 503 is a right answer to writes, or to all. */
    async excuse<T>(what: 'writes' | 'all', work: () => Promise<T>): Promise<T> {
      for (const kind of kindsOf(what)) begin(kind)
      return work().finally(() => kindsOf(what).forEach(end))
    },
    /** From now on: whether at any time until it is asked there was such a reason. */
    excuses(kind: Kind): () => boolean {
      const before = { ...excuses[kind] }
      return () => before.open > 0 || excuses[kind].begun > before.begun
    },
  }
}

export type Trouble = ReturnType<typeof createTrouble>

type Kind = 'writes' | 'reads'

function kindsOf(what: 'writes' | 'all'): Kind[] {
  return what === 'all' ? ['writes', 'reads'] : ['writes']
}
