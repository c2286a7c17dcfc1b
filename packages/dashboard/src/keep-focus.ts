/**
 * Keeps the position of keyboard users when the focused element disappears, such as the row they deleted: the focus
 * moves to the nearest remaining ancestor.
 */
export function keepFocus(): void {
  let around: readonly EventTarget[] = []
  document.addEventListener('focusin', (event) => (around = event.composedPath()))
  document.addEventListener('focusout', ({ target }) => {
    // If the element still exists after the change, the user moved the focus, so its ancestors are forgotten.
    queueMicrotask(() => {
      if (target instanceof Node && target.isConnected && document.activeElement === document.body) around = []
    })
  })
  new MutationObserver(() => {
    if (document.activeElement !== document.body || !(around[0] instanceof Node) || around[0].isConnected) return
    const nearest = around.find((one) => one instanceof HTMLElement && one.isConnected)
    around = []
    if (!(nearest instanceof HTMLElement) || nearest === document.body) return
    if (!nearest.hasAttribute('tabindex')) nearest.tabIndex = -1
    nearest.focus({ preventScroll: true })
  }).observe(document.body, { childList: true, subtree: true })
}
