import { useTranslations } from 'use-intl/react'
import { Button } from '#/components/button.tsx'

/** Says beforehand that the page will be left, and how it will not. */
export function AutoOpenNote({ onStay }: { onStay(): void }) {
  const t = useTranslations('dashboard.opening')
  return (
    <div className="opening" data-launching>
      <p role="status">{t('text')}</p>
      <Button look="small" onPress={onStay}>
        {t('stay')}
      </Button>
    </div>
  )
}
