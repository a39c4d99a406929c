import { useId } from 'react'
import { useTranslations } from 'use-intl/react'
import { Button } from '#/components/button.tsx'
import { Dialog } from '#/components/dialog.tsx'
import { cardKeys } from './shortcuts.ts'

export interface ShortcutsProps {
  isOn: boolean
  onTurn(isOn: boolean): void
  /** Number of cards. */
  count: number
}

/** Lists the keys of the dashboard, and turns them on and off. */
export function ShortcutsDialog({ isOn, onTurn, count, onClose }: ShortcutsProps & { onClose(): void }) {
  const t = useTranslations('dashboard')
  const turn = useId()
  return (
    <Dialog title={t('keys.title')} onClose={onClose}>
      {(close) => (
        <>
          <dl className="keys">
            <Key name={count > 1 ? `1–${Math.min(count, 9)}` : '1'} does={t('keys.choose')} />
            <Key name="?" does={t('keys.help')} />
          </dl>
          <p className="hint">{t('keys.onChosen')}</p>
          <dl className="keys">
            {Object.entries(cardKeys).map(([action, key]) => (
              <Key key={key} name={key} does={t(`action.${action as keyof typeof cardKeys}`)} />
            ))}
          </dl>
          <label htmlFor={turn} className="check-line">
            <input id={turn} type="checkbox" checked={isOn} onChange={(event) => onTurn(event.target.checked)} />
            {t('keys.isOn')}
          </label>
          <div className="actions end">
            <Button variant="primary" onPress={close}>
              {t('keys.close')}
            </Button>
          </div>
        </>
      )}
    </Dialog>
  )
}

function Key({ name, does }: { name: string; does: string }) {
  return (
    <div>
      <dt>
        <kbd>{name}</kbd>
      </dt>
      <dd>{does}</dd>
    </div>
  )
}
