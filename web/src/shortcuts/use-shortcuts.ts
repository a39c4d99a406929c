import { useEffect, useEffectEvent } from 'react'
import { shortcutOf, type CardKey } from '#/shortcuts/shortcuts.ts'

/** Elements in which a key has another meaning. */
const taken = 'input, textarea, select, [contenteditable], dialog'

/**
 * Single-key shortcuts for the cards of this page. Buttons are found by their `aria-keyshortcuts` and clicked, so that
 * a disabled one stays without effect.
 * @param onHelp the list of keys was requested
 * @param onNoCard a button's key was pressed, and none of several cards is chosen
 */
export function useShortcuts(isOn: boolean, onHelp: () => void, onNoCard: () => void): void {
  const press = useEffectEvent((key: CardKey) => {
    const cards = allCards()
    const card =
      document.activeElement?.closest<HTMLElement>('.card > article') ?? (cards.length === 1 ? cards[0] : undefined)
    if (!card) return onNoCard()
    card.querySelector<HTMLElement>(`[aria-keyshortcuts="${key}"]`)?.click()
  })
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing || document.querySelector('dialog[open]')) return
    if (event.target instanceof Element && event.target.closest(taken)) return
    const shortcut = shortcutOf(event)
    if (!shortcut) return
    event.preventDefault()
    if (shortcut.does === 'help') onHelp()
    else if (shortcut.does === 'choose') allCards()[shortcut.index]?.focus()
    else press(shortcut.key)
  })

  useEffect(() => {
    if (!isOn) return
    const listening = new AbortController()
    document.addEventListener('keydown', (event) => onKey(event), { signal: listening.signal })
    return () => listening.abort()
  }, [isOn])
}

const allCards = () => [...document.querySelectorAll<HTMLElement>('.card > article')]
