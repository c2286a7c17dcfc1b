/** A metric for the operator. */
export interface Metric {
  readonly name: string
  readonly help: string
  readonly type: 'gauge' | 'counter'
  /** Labels that distinguish metrics with the same name. */
  readonly labels?: Readonly<Record<string, string>>
  readonly value: number
}
