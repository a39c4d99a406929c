import { createContext, use } from 'react'

/** Whether single keys press buttons; see `useShortcuts`. */
export const ShortcutsOn = createContext(false)

/** The attribute that names the key of a button, and by which the button is found; undefined while keys are off. */
export function useShortcutKey(key: string | undefined): string | undefined {
  return use(ShortcutsOn) ? key : undefined
}
