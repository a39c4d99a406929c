import type { FolderSize, FoldersResponse } from '@berth/api/schemas/features/snapshots.ts'
import type { ContainerEntry } from '@berth/api/schemas/user.ts'
import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { Dialog } from '#/components/dialog.tsx'
import { useSize } from './use-size.ts'

/** Longer than the server reads, and waits behind others; ms. */
const timeout = 120_000

/** What takes room in a home, folder by folder; read anew each time it is opened. */
export function FoldersDialog({ entry, onClose }: { entry: ContainerEntry; onClose(): void }) {
  const t = useTranslations('snapshots.folders')
  const [path, setPath] = useState('')
  const status = useRef<HTMLParagraphElement>(null)
  const query = useQuery({
    queryKey: ['folders', entry.type, path],
    queryFn: ({ signal }) =>
      createApiClient(signal, timeout).listFolders({
        params: { container_type: entry.type },
        query: path === '' ? {} : { path },
      }),
    gcTime: 0,
    retry: false,
  })
  // The pressed button goes away with its folder, so the focus moves first.
  function open(next: string) {
    status.current?.focus({ preventScroll: true })
    setPath(next)
  }
  return (
    <Dialog title={t('title', { name: entry.display_name })} onClose={onClose}>
      {(close) => (
        <>
          <Alert error={query.error ?? undefined} />
          <p role="status" ref={status} tabIndex={-1}>
            {query.isFetching ? t('reading') : undefined}
          </p>
          {query.data && <Folder found={query.data} path={path} onOpen={open} />}
          <div className="actions end">
            {path !== '' && <Button onPress={() => open(path.split('/').slice(0, -1).join('/'))}>{t('up')}</Button>}
            <Button onPress={close}>{t('close')}</Button>
          </div>
        </>
      )}
    </Dialog>
  )
}

interface FolderProps {
  found: FoldersResponse
  path: string
  onOpen(path: string): void
}

function Folder({ found, path, onOpen }: FolderProps) {
  const t = useTranslations('snapshots.folders')
  const size = useSize()
  const [bytes, files] = [size(found.bytes), found.files]
  return (
    <>
      <p>{t('here', { path: path === '' ? t('home') : path, size: bytes, files })}</p>
      {!found.is_complete && <p className="hint">{t('partly')}</p>}
      {found.entries.length === 0 && <p className="hint">{t('empty')}</p>}
      <ul className="rows folder-sizes">
        {found.entries.map((entry) => (
          <FolderRow
            key={entry.name}
            entry={entry}
            share={found.bytes === 0 ? 0 : entry.bytes / found.bytes}
            onOpen={() => onOpen(path === '' ? entry.name : `${path}/${entry.name}`)}
          />
        ))}
      </ul>
    </>
  )
}

function FolderRow({ entry, share, onOpen }: { entry: FolderSize; share: number; onOpen(): void }) {
  const t = useTranslations('snapshots.folders')
  const size = useSize()(entry.bytes)
  return (
    <li>
      {entry.is_folder ? (
        <Button variant="small" onPress={onOpen}>
          {entry.name}
        </Button>
      ) : (
        <span className="folder-name">{entry.name}</span>
      )}
      <span className="hint">{entry.is_folder ? t('folder', { size, files: entry.files }) : t('file', { size })}</span>
      <span className="folder-share" aria-hidden style={{ inlineSize: `${Math.round(share * 100)}%` }} />
    </li>
  )
}
