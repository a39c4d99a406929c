import { createContext, use } from 'react'

/** Whether single keys press buttons; see `useShortcuts`. */
export const ShortcutsOn = createContext(false)

/** The attribute that says which key presses a button, and by which it is found then; none while keys are off. */
export function useShortcutKey(key: string | undefined): string | undefined {
  return use(ShortcutsOn) ? key : undefined
}
