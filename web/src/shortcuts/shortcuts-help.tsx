import { Suspense, useEffect, useEffectEvent, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { Button } from '#/components/button.tsx'
import { lazyExport } from '#/router/lazy-export.ts'
import type { ShortcutsProps } from './shortcuts-dialog.tsx'
import { shortcutOf, type CardKey } from './shortcuts.ts'

// Few open it, and should not load it.
const ShortcutsDialog = lazyExport('ShortcutsDialog', () => import('./shortcuts-dialog.tsx'))

/**
 * The keys of the dashboard, a button that lists them where there is a keyboard, and a note after a key that needs a
 * chosen card.
 */
export function Shortcuts({ isOn, onTurn, count }: ShortcutsProps) {
  const t = useTranslations('dashboard.keys')
  const [isOpen, setOpen] = useState(false)
  const [isEarly, setEarly] = useState(false)
  useShortcuts(
    isOn,
    () => setOpen(true),
    () => setEarly(true),
  )
  return (
    <div className="shortcuts-hint">
      <Button variant="small" onPress={() => setOpen(true)}>
        {t('hint')}
      </Button>
      {isOn && <kbd aria-hidden>?</kbd>}
      <span role="status" className="hint live" onAnimationEnd={() => setEarly(false)}>
        {isEarly && <span className="transient">{t('chooseFirst', { last: Math.min(count, 9) })}</span>}
      </span>
      {isOpen && (
        <Suspense fallback={null}>
          <ShortcutsDialog isOn={isOn} onTurn={onTurn} count={count} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </div>
  )
}

/** Elements in which a key has another meaning. */
const taken = 'input, textarea, select, [contenteditable], dialog'

/**
 * Single-key shortcuts for the cards of this page. Buttons are found by their `aria-keyshortcuts` and clicked, so that
 * a disabled one stays without effect.
 * @param onHelp the list of keys was requested
 * @param onNoCard a button's key was pressed, and none of several cards is chosen
 */
function useShortcuts(isOn: boolean, onHelp: () => void, onNoCard: () => void): void {
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
