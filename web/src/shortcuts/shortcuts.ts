import { createContext, use } from 'react'
import { withStorage, type WebStorage } from '#/session/web-storage.ts'

/** Keys that press a button of a card; each is the button's `aria-keyshortcuts`, too. */
export const cardKeys = { open: 'o', launch: 'l', restart: 'r', stop: 's', logs: 'g' } as const
export type CardKey = (typeof cardKeys)[keyof typeof cardKeys]

/** What a key does: list the keys, choose the card of that number (from 0), or press a button of a card. */
type Shortcut =
  | { readonly does: 'help' }
  | { readonly does: 'choose'; readonly index: number }
  | { readonly does: 'press'; readonly key: CardKey }

type Press = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey' | 'repeat'>

/** Undefined for every other key, and with a modifier, which belongs to the browser or the screen reader. */
export function shortcutOf({ key, ctrlKey, metaKey, altKey, shiftKey, repeat }: Press): Shortcut | undefined {
  if (ctrlKey || metaKey || altKey || repeat) return undefined
  // With Shift on most keyboards.
  if (key === '?') return { does: 'help' }
  if (shiftKey) return undefined
  if (/^[1-9]$/.test(key)) return { does: 'choose', index: Number(key) - 1 }
  const pressed = Object.values(cardKeys).find((known) => known === key.toLowerCase())
  return pressed && { does: 'press', key: pressed }
}

const storedAs = 'berth.shortcuts'

/**
 * Whether single keys are shortcuts (WCAG 2.2, 2.1.4: they can be switched off). A container's page can change this
 * setting, which does no harm.
 */
export function areShortcutsOn(storage?: WebStorage): boolean {
  return withStorage(() => (storage ?? localStorage).getItem(storedAs)) !== 'off'
}

export function saveShortcutsOn(on: boolean, storage?: WebStorage): void {
  // Without storage the choice holds until the page is left.
  withStorage(() => {
    const tabs = storage ?? localStorage
    if (on) tabs.removeItem(storedAs)
    else tabs.setItem(storedAs, 'off')
  })
}

/** Whether single keys press buttons; see `useShortcuts`. */
export const ShortcutsOn = createContext(false)

/** The attribute that names the key of a button, and by which the button is found; undefined while keys are off. */
export function useShortcutKey(key: string | undefined): string | undefined {
  return use(ShortcutsOn) ? key : undefined
}
