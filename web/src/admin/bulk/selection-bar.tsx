import { useTranslations } from 'use-intl/react'
import { Button } from '#/components/button.tsx'

interface SelectionBarProps {
  /** The number of selected rows, as text. */
  text: string
  /** The number of matching rows, where not all of them are selected. */
  rest: number | undefined
  /** Another bulk job is running. */
  isOff: boolean
  onAll(): void
  onClear(): void
  onBlock(): void
  onUnblock(): void
}

/** The actions on all selected rows, at the bottom of the window. */
export function SelectionBar({ text, rest, isOff, onAll, onClear, onBlock, onUnblock }: SelectionBarProps) {
  const t = useTranslations('admin.table')
  return (
    <section className="bottom-bar" aria-label={t('selection')}>
      <div className="bar-text">
        <p role="status">
          <strong>{text}</strong>
        </p>
        {rest !== undefined && (
          <button type="button" className="link-button" onClick={onAll}>
            {t('selectAll', { count: rest })}
          </button>
        )}
      </div>
      <div className="actions">
        <Button variant="small" isOff={isOff} onPress={onBlock}>
          {t('block')}
        </Button>
        <Button variant="small" isOff={isOff} onPress={onUnblock}>
          {t('unblock')}
        </Button>
        <Button variant="small" onPress={onClear}>
          {t('clearSelection')}
        </Button>
      </div>
    </section>
  )
}
