/** A decoded text and its encoding. */
export interface Encoded {
  readonly text: string
  readonly start: number
  readonly end: number
  readonly form: string
  /** Whether the encoding has a legitimate use. Default: false. */
  readonly isUsual?: boolean
  readonly spelled?: string
}
