import { useId, useRef, useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { useTranslations } from 'use-intl/react'
import type { PortsResponse } from '@berth/api/schemas/container.ts'
import { createApiClient } from '#/api/api-client.ts'
import { Button, ShortLabel } from '#/components/button.tsx'
import { copyToClipboard } from '#/components/clipboard.ts'
import { Dialog, EndButton } from '#/components/dialog.tsx'
import { QueryState } from '#/components/query-state.tsx'
import { withTexts } from '#/i18n/i18n-provider.tsx'
import { ports } from '#/messages/card-dialogs.ts'
import './ports.css'

interface PortsDialogProps {
  name: string
  type: string
  /** Called when the dialog has closed. */
  onClose(): void
}

/** How often the list is read anew while it is shown, in ms: the engine starts a program in the container for each. */
const refreshMs = 3_000

/** What listens in a container now, as long as the dialog is open. */
export const PortsDialog = withTexts({ ports }, Ports)

function Ports({ name, type, onClose }: PortsDialogProps) {
  const t = useTranslations('ports')
  const query = useQuery({
    queryKey: ['ports', type],
    queryFn: async ({ signal }) =>
      (await createApiClient(signal).containerPorts({ params: { container_type: type } })).ports,
    refetchInterval: refreshMs,
    gcTime: 0,
    retry: false,
  })
  const [copied, setCopied] = useState('')
  return (
    <Dialog title={t('title', { name })} onClose={onClose}>
      {(close) => (
        <>
          <p className="hint">{t('lead')}</p>
          <QueryState query={query} />
          {query.data?.length === 0 && <p>{t('none')}</p>}
          <ul className="ports">
            {query.data?.map((each) => (
              <PortRow key={each.port} port={each} onCopied={setCopied} />
            ))}
          </ul>
          <p role="status" className="hint live">
            {copied}
          </p>
          <div className="actions end">
            <EndButton word="close" variant="primary" onPress={close} />
          </div>
        </>
      )}
    </Dialog>
  )
}

interface PortRowProps {
  port: PortsResponse['ports'][number]
  onCopied(sentence: string): void
}

function PortRow({ port: { port, url, is_main: isMain, is_loopback: isLoopback }, onCopied }: PortRowProps) {
  const t = useTranslations('ports')
  const id = useId()
  const shown = useRef<HTMLElement>(null)
  const kind = isMain ? 'main' : isLoopback ? 'loopback' : 'further'

  async function copy() {
    const isCopied = await copyToClipboard(url, shown.current)
    onCopied(t(isCopied ? 'copied' : 'notCopied', { port: String(port) }))
  }
  return (
    <li>
      <div>
        <h3 id={id}>{port}</h3>
        <p className="hint">{t(kind)}</p>
        <p className="address">
          <code ref={shown}>{url}</code>
        </p>
      </div>
      <div className="actions">
        <a className="button small" href={url} target="_blank" rel="noreferrer">
          <ShortLabel text={t('open')} name={t('openThis', { port: String(port) })} />
        </a>
        <Button variant="small" onPress={() => void copy()}>
          <ShortLabel text={t('copy')} name={t('copyThis', { port: String(port) })} />
        </Button>
      </div>
    </li>
  )
}
