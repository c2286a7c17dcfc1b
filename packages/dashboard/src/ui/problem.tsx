import { RegistryError } from '@skillstead/client'
import { useEffect } from 'preact/hooks'
import { isUnauthorized } from '../data/queries.ts'
import { SignInLink } from './sign-in-link.tsx'

/** What went wrong and what to do about it, in the place of what would have been shown. */
export function Problem({ error, retry }: { error: unknown; retry?: () => unknown }) {
  const { title, advice } = explain(error)
  const goesOn = useGoingOn(error, retry)
  return (
    <div class="problem" role="alert">
      <strong>{title}</strong>
      <p>
        {advice}
        {goesOn && ' This goes on by itself then.'}
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

/** Beside a form in a window of its own, so that nothing has to be filled in twice. */
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
      <SignInLink target="_blank">Sign in in a new window</SignInLink>, then try again here: what you filled in stays.
    </p>
  )
}

const waitSecondsMax = 120

/** Tries again when the node has said that it may be asked again; whether it will. */
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

/** An error as a heading and a sentence; nothing is shown of errors that are no answer of the node. */
export function explain(error: unknown): { title: string; advice: string } {
  if (!(error instanceof RegistryError)) {
    return { title: 'This page failed', advice: 'Reload it; if that does not help, tell who runs this node.' }
  }
  const detail = error.message
  switch (error.code) {
    case 'upstream_failed':
    case 'upstream_timeout':
      return {
        title: 'The node does not answer',
        advice: `${detail} Check that it runs and that you are connected, then try again.`,
      }
    case 'unauthorized':
      return { title: 'Sign in first', advice: 'This needs somebody who is signed in; a session ends by itself.' }
    case 'forbidden':
    case 'plan_required':
      return { title: 'This is not open to you', advice: detail }
    case 'not_found':
      return { title: 'Not found', advice: `${detail} It may be private, or gone.` }
    case 'taken_down':
      return { title: 'Taken down', advice: detail }
    case 'rate_limited':
      return { title: 'Too many requests', advice: detail }
    default:
      return { title: 'That did not work', advice: detail }
  }
}
