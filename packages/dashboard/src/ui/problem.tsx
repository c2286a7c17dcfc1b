import { RegistryError } from '@skillstead/client'
import { useEffect } from 'preact/hooks'
import { isUnauthorized } from '../api.ts'
import { SignInLink } from './sign-in-link.tsx'

/** An error with advice, in place of the content. */
export function Problem({ error, retry }: { error: unknown; retry?: () => unknown }) {
  const { title, advice } = explainError(error)
  const goesOn = useGoingOn(error, retry)
  return (
    <div class="problem" role="alert">
      <strong>{title}</strong>
      <p>
        {advice}
        {goesOn && ' The page then continues automatically.'}
      </p>
      {error instanceof RegistryError && error.errors && error.errors.length > 0 && (
        <ul>
          {error.errors.map(({ path, message }) => (
            <li key={path}>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      )}
      {isUnauthorized(error) && (
        <p>
          {/* In a form, the login opens in a new window, so that the input is not lost. */}
          {retry ? (
            <SignInLink>Sign in</SignInLink>
          ) : (
            <>
              <SignInLink target="_blank">Sign in in a new window</SignInLink>, then try again here: your input is not
              lost.
            </>
          )}
        </p>
      )}
      {retry && (
        <button type="button" onClick={() => void retry()}>
          Try again
        </button>
      )}
    </div>
  )
}

const waitSecondsMax = 120

/** Retries when the rate limit of the node allows it; returns whether there will be a retry. */
function useGoingOn(error: unknown, retry?: () => unknown): boolean {
  const isLimited = error instanceof RegistryError && error.code === 'rate_limited'
  const seconds = isLimited ? (error.retryAfterSeconds ?? Infinity) : Infinity
  const goesOn = retry !== undefined && seconds <= waitSecondsMax
  useEffect(() => {
    if (!goesOn) return
    const timer = setTimeout(() => void retry(), seconds * 1000)
    return () => clearTimeout(timer)
  }, [error, goesOn])
  return goesOn
}

const unreachable = [
  'The node does not respond',
  'Check that the node is running and that you are connected, then try again.',
]
/** The titles of errors by their codes, with what is added to their messages. */
const titles: Readonly<Record<string, readonly string[]>> = {
  upstream_failed: unreachable,
  upstream_timeout: unreachable,
  forbidden: ['Access denied'],
  plan_required: ['Access denied'],
  not_found: ['Not found', 'It may be private or deleted.'],
  taken_down: ['Taken down'],
  rate_limited: ['Too many requests'],
}

/** An error as title and advice; errors other than responses of the node are not shown in detail. */
export function explainError(error: unknown): { title: string; advice: string } {
  if (!(error instanceof RegistryError)) {
    return { title: 'This page failed', advice: 'Reload it. If that does not help, contact the operator of this node.' }
  }
  if (isUnauthorized(error)) {
    return { title: 'Sign in required', advice: 'This page requires a login. Your session may have expired.' }
  }
  const [title = 'That did not work', more = ''] = titles[error.code] ?? []
  return { title, advice: `${error.message} ${more}`.trim() }
}
