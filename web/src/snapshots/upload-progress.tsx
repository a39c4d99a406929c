import { useId } from 'react'
import { useFormatter, useTranslations } from 'use-intl/react'
import { Button } from '#/components/button.tsx'
import { formatShare, shareOf } from '#/i18n/byte-sizes.ts'
import { LeaveQuestion } from './leave-question.tsx'

/** An archive on its way, in bytes. */
export interface Upload {
  readonly name: string
  readonly sent: number
  readonly size: number
}

interface UploadProgressProps {
  upload: Upload
  onCancel(): void
}

/**
 * How much of an archive was sent; afterwards that it is unpacked, which cannot be cancelled any more. To leave the page
 * cancels it, too, so that is asked about before.
 */
export function UploadProgress({ upload: { name, sent, size }, onCancel }: UploadProgressProps) {
  const t = useTranslations('snapshots.upload')
  const { number } = useFormatter()
  const id = useId()
  const isSent = sent >= size
  return (
    <div className="upload-progress">
      {!isSent && <LeaveQuestion />}
      <p id={id}>{isSent ? t('unpacking') : t('sending', { name })}</p>
      <progress aria-labelledby={id} max={size} {...(isSent ? {} : { value: sent })} />
      {!isSent && (
        <p className="hint">
          {t(
            'sent',
            formatShare(shareOf(sent, size, 'decimal'), (value, how) => number(value, how)),
          )}
        </p>
      )}
      {!isSent && (
        <Button variant="small" onPress={onCancel}>
          {t('cancel')}
        </Button>
      )}
    </div>
  )
}
