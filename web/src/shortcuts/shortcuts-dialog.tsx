import { useId } from 'react'
import { useTranslations } from 'use-intl/react'
import { Dialog, EndButton } from '#/components/dialog.tsx'
import { withTexts } from '#/i18n/i18n-provider.tsx'
import { shortcuts } from '#/messages/card-dialogs.ts'
import { cardKeys } from './shortcuts.ts'

export interface ShortcutsProps {
  isOn: boolean
  onTurn(isOn: boolean): void
  /** Number of cards. */
  count: number
}

/** Lists the keys of the dashboard, and turns them on and off. */
export const ShortcutsDialog = withTexts({ shortcuts }, Shortcuts)

function Shortcuts({ isOn, onTurn, count, onClose }: ShortcutsProps & { onClose(): void }) {
  const t = useTranslations()
  const turn = useId()
  return (
    <Dialog title={t('shortcuts.title')} onClose={onClose}>
      {(close) => (
        <>
          <dl className="keys">
            <Key name={count > 1 ? `1–${Math.min(count, 9)}` : '1'} does={t('shortcuts.choose')} />
            <Key name="?" does={t('shortcuts.help')} />
          </dl>
          <p className="hint">{t('shortcuts.onChosen')}</p>
          <dl className="keys">
            {Object.entries(cardKeys).map(([action, key]) => (
              <Key key={key} name={key} does={t(`dashboard.action.${action as keyof typeof cardKeys}`)} />
            ))}
          </dl>
          <label htmlFor={turn} className="check-line">
            <input id={turn} type="checkbox" checked={isOn} onChange={(event) => onTurn(event.target.checked)} />
            {t('shortcuts.isOn')}
          </label>
          <div className="actions end">
            <EndButton word="close" variant="primary" onPress={close} />
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
