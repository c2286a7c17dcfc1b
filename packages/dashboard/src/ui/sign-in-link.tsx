import { useLocation } from 'preact-iso'
import { toAddress } from '../addresses.ts'
import { api, useData } from '../api.ts'
import { useMe } from '../session.ts'

const signInPath = '/account/sign-in'

/** A link to the login page, which returns to this page. */
export function SignInLink(props: { children: string; class?: string; target?: '_blank' }) {
  const { path, url, query } = useLocation()
  const next = path === signInPath ? query.next : url === '/' ? undefined : url
  return (
    <a
      class={props.class}
      target={props.target}
      rel={props.target && 'noopener'}
      href={toAddress(signInPath, { next })}
    >
      {props.children}
    </a>
  )
}

/** The address to open after the sign-in: `next`, if it is a page of this node; otherwise the account. */
export function toNextPlace(next: string | undefined): string {
  const fallback = '/account'
  if (!next?.startsWith('/') || !URL.canParse(next, location.origin)) return fallback
  const { origin, pathname, search } = new URL(next, location.origin)
  // A path that begins with two slashes, or with characters that browsers treat as such, names another host.
  if (origin !== location.origin || pathname.startsWith('//') || pathname === signInPath) return fallback
  return pathname + search
}

/** A link to the setup page of a node without users; empty on other nodes. */
export function SetupLink() {
  const setup = useData(['setup'], () => api.getSetup())
  if (!setup.data?.needed) return null
  return (
    <p class="notice fair">
      This node has no users yet. <a href="/account/setup">Set it up</a> to become its administrator.
    </p>
  )
}

/** Explains to a visitor which actions require a sign-in; empty for signed-in users. */
export function SignInTo({ children, class: kind }: { children: string; class?: string }) {
  if (useMe() !== null) return null
  return (
    <p class={kind}>
      <SignInLink>Sign in</SignInLink> to {children}.
    </p>
  )
}
