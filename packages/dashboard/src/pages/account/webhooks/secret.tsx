import { Copyable } from '../../../ui/parts.tsx'

/** A secret, for as long as its owner looks at it and never again. */
export function SecretShown({ secret, onDone }: { secret: string; onDone(): void }) {
  return (
    <section class="card secret" aria-label="The secret">
      <p role="status">Copy the secret now: it is shown this once. Your program checks the signatures with it.</p>
      <Copyable text={secret} />
      <button type="button" onClick={onDone}>
        I have it
      </button>
    </section>
  )
}
