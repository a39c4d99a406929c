import { Suspense, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { Button } from '#/components/button.tsx'
import { lazyExport } from '#/router/lazy-export.ts'
import type { ShortcutsProps } from '#/shortcuts/shortcuts-dialog.tsx'
import { useShortcuts } from '#/shortcuts/use-shortcuts.ts'

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
