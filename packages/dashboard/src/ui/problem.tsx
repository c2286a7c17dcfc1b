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
      {isUnauthorized(error) && <SignInAgain isForm={!retry} />}
      {retry && (
        <button type="button" onClick={() => void retry()}>
          Try again
        </button>
      )}
    </div>
  )
}

/** In a form, the login opens in a new window, so that the input is not lost. */
function SignInAgain({ isForm }: { isForm: boolean }) {
  if (!isForm) {
    return (
      <p>
        <SignInLink>Sign in</SignInLink>
      </p>
    )
  }
  return (
    <p>
      <SignInLink target="_blank">Sign in in a new window</SignInLink>, then try again here: your input is not lost.
    </p>
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

/** An error as title and advice; errors other than responses of the node are not shown in detail. */
export function explainError(error: unknown): { title: string; advice: string } {
  if (!(error instanceof RegistryError)) {
    return { title: 'This page failed', advice: 'Reload it. If that does not help, contact the operator of this node.' }
  }
  const detail = error.message
  switch (error.code) {
    case 'upstream_failed':
    case 'upstream_timeout':
      return {
        title: 'The node does not respond',
        advice: `${detail} Check that the node is running and that you are connected, then try again.`,
      }
    case 'unauthorized':
      return { title: 'Sign in required', advice: 'This page requires a login. Your session may have expired.' }
    case 'forbidden':
    case 'plan_required':
      return { title: 'Access denied', advice: detail }
    case 'not_found':
      return { title: 'Not found', advice: `${detail} It may be private or deleted.` }
    case 'taken_down':
      return { title: 'Taken down', advice: detail }
    case 'rate_limited':
      return { title: 'Too many requests', advice: detail }
    default:
      return { title: 'That did not work', advice: detail }
  }
}
