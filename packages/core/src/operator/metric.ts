/** A metric for the operator. */
export interface Metric {
  readonly name: string
  readonly help: string
  readonly type: 'gauge' | 'counter'
  /** Labels that distinguish metrics with the same name. */
  readonly labels?: Readonly<Record<string, string>>
  readonly value: number
}

/** A metric without labels. As in Prometheus, the name of a counter ends in `_total`. */
export function toMetric(name: string, help: string, value: number): Metric {
  return { name, help, type: name.endsWith('_total') ? 'counter' : 'gauge', value }
}
