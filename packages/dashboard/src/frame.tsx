import { Menu as MenuIcon, Search } from 'lucide'
import { useLocation } from 'preact-iso'
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { addresses, places } from './addresses.ts'
import { signOut, useMe } from './session.ts'
import { site } from './site.ts'
import { ActionButton } from './ui/form.tsx'
import { Icon, Logo } from './ui/icon.tsx'
import { Badge, toCount } from './ui/parts.tsx'
import { SignInLink } from './ui/sign-in-link.tsx'

export function Header() {
  const { Palette, open, close } = usePalette()
  useFindKeys(open)
  return (
    <header class="top">
      <div class="top-row">
        <a class="brand" href="/">
          <Logo />
          <bdi>{site.name}</bdi>
        </a>
        <nav aria-label="Main">
          <PlaceLinks />
        </nav>
        <button type="button" class="finder" aria-keyshortcuts="Control+K /" onClick={open}>
          <Icon of={Search} />
          <span>Search skills</span>
        </button>
        <Who />
        <button type="button" class="more" popovertarget="places" aria-label="Pages">
          <Icon of={MenuIcon} />
        </button>
        <Menu id="places" label="Pages">
          <PlaceLinks />
        </Menu>
      </div>
      {Palette && <Palette close={close} />}
    </header>
  )
}

function PlaceLinks() {
  const { path } = useLocation()
  const isHere = (place: string) =>
    place === '/' ? path === '/' || path.startsWith('/skills/') : path.startsWith(place)
  return (
    <>
      {[...places, ['/account/publish', 'Publish'] as const].map(([place, title]) => (
        <a key={place} href={place} aria-current={isHere(place) ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </>
  )
}

/** Links in a popover, which closes when the user follows a link. */
const Menu = (props: { id: string; label: string; children: ComponentChildren }) => (
  <div
    id={props.id}
    class="menu"
    popover="auto"
    role="navigation"
    aria-label={props.label}
    onClick={(event) => event.currentTarget.hidePopover()}
  >
    {props.children}
  </div>
)

/** The search over everything, loaded when it is first opened. If it cannot be loaded, the first page opens instead. */
function usePalette() {
  const [palette, setPalette] = useState<typeof import('./palette.tsx')>()
  const { route } = useLocation()
  const open = () => import('./palette.tsx').then(setPalette, () => route('/'))
  return { Palette: palette?.default, open, close: () => setPalette(undefined) }
}

/**
 * `/` moves the focus to the search field of the page, where there is one, and otherwise opens the palette, as Ctrl+K
 * does everywhere. A slash that is typed into a field stays a slash.
 */
function useFindKeys(open: () => void): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const isFind = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey
      const isSlash = event.key === '/' && !event.ctrlKey && !event.metaKey && !event.altKey
      if (!isFind && !(isSlash && !isTyping(event.target))) return
      event.preventDefault()
      const field = isSlash ? document.querySelector<HTMLInputElement>('main [role=combobox]') : null
      if (field) field.focus()
      else open()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('input, textarea, select, [contenteditable]') !== null

function Who() {
  const me = useMe()
  const waiting = me?.notices ?? 0
  const { route } = useLocation()
  const leave = async () => {
    await signOut()
    route('/')
  }
  if (me == null) {
    return <div class="who">{me === null && <SignInLink class="button">Sign in</SignInLink>}</div>
  }
  return (
    <div class="who">
      <button
        type="button"
        class="initial"
        data-waiting={waiting || undefined}
        popovertarget="you"
        aria-label={`Menu of ${me.username}${waiting > 0 ? `, ${toCount(waiting, 'notice')}` : ''}`}
      >
        {me.username[0]}
      </button>
      <Menu id="you" label="You">
        <a href={addresses.user(me.username)}>{me.username}</a>
        <a href="/account">Account {waiting > 0 && <Badge tone="fair">{toCount(waiting, 'notice')}</Badge>}</a>
        <a href="/account/publish">Publish a skill</a>
        {me.role === 'admin' && <a href="/admin">Operate</a>}
        <hr />
        {/* The menu stays open, since a failure is shown in it. */}
        <div onClick={(event) => event.stopPropagation()}>
          <ActionButton work={leave}>Sign out</ActionButton>
        </div>
      </Menu>
    </div>
  )
}
