import type { FolderSize, FoldersResponse } from '@berth/api/schemas/features/snapshots.ts'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { canAct, createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button, ShortLabel } from '#/components/button.tsx'
import { ConfirmDialog, Dialog, EndButton } from '#/components/dialog.tsx'
import { downloadFrom } from '#/components/download-file.ts'
import { useTask } from '#/components/use-task.ts'
import { withTexts } from '#/i18n/i18n-provider.tsx'
import { files } from '#/messages/files.ts'
import './snapshots.css'
import { useSize } from './use-size.ts'

/** Longer than the server reads, and waits behind others; ms. */
const timeout = 120_000
/** Entries of one answer. */
const pageSize = 50

interface FilesDialogProps {
  name: string
  type: string
  onClose(): void
}

/** What is in a home and what room it takes, folder by folder; a file or folder can be downloaded and deleted. */
export const FilesDialog = withTexts({ files }, Files)

function Files({ name, type, onClose }: FilesDialogProps) {
  const t = useTranslations('files')
  const [{ path, offset }, setPlace] = useState({ path: '', offset: 0 })
  const [asked, setAsked] = useState<FolderSize>()
  const [outcome, setOutcome] = useState<string>()
  const status = useRef<HTMLParagraphElement>(null)
  const client = useQueryClient()
  const { busy, error, run } = useTask()
  const params = { container_type: type }
  const query = useQuery({
    queryKey: ['folders', type, path, offset],
    queryFn: ({ signal }) =>
      createApiClient(signal, timeout).listFolders({
        params,
        query: { ...(path !== '' && { path }), ...(offset > 0 && { offset: String(offset) }) },
      }),
    gcTime: 0,
    retry: false,
  })
  const pathOf = (entry: FolderSize) => (path === '' ? entry.name : `${path}/${entry.name}`)
  // The pressed button goes away with its folder, so the focus moves first.
  function open(next: string, from = 0) {
    status.current?.focus({ preventScroll: true })
    setOutcome(undefined)
    setPlace({ path: next, offset: from })
  }
  function download(entry: FolderSize) {
    void run(async (signal) => {
      const found = await createApiClient(signal).downloadFile({ params, body: { path: pathOf(entry) } })
      downloadFrom(found.path)
      setOutcome(t('downloading'))
    })
  }
  function remove(entry: FolderSize) {
    status.current?.focus({ preventScroll: true })
    setOutcome(undefined)
    void run(async (signal) => {
      const done = await createApiClient(signal, timeout).removeFile({ params, query: { path: pathOf(entry) } })
      await client.invalidateQueries({ queryKey: ['folders', type] })
      setOutcome(done.message)
    })
  }
  return (
    <>
      <Dialog title={t('title', { name })} onClose={onClose}>
        {(close) => (
          <>
            <p className="hint">{t('lead')}</p>
            <Alert error={error ?? query.error ?? undefined} />
            <p role="status" ref={status} tabIndex={-1}>
              {busy ? t('removing') : query.isFetching ? t('reading') : outcome}
            </p>
            {query.data && (
              <Folder
                found={query.data}
                path={path}
                isOff={busy || !canAct()}
                onOpen={(entry) => open(pathOf(entry))}
                onDownload={download}
                onRemove={setAsked}
              />
            )}
            <div className="actions end">
              {path !== '' && <Button onPress={() => open(path.split('/').slice(0, -1).join('/'))}>{t('up')}</Button>}
              {offset > 0 && <Button onPress={() => open(path, Math.max(0, offset - pageSize))}>{t('earlier')}</Button>}
              {query.data?.has_more && <Button onPress={() => open(path, offset + pageSize)}>{t('more')}</Button>}
              <EndButton word="close" onPress={close} />
            </div>
          </>
        )}
      </Dialog>
      {asked && (
        <ConfirmDialog
          title={t('ask.title', { name: asked.name })}
          confirm={t('ask.confirm')}
          onConfirm={() => remove(asked)}
          onClose={() => setAsked(undefined)}
        >
          <p>{t(asked.is_folder ? 'ask.folder' : 'ask.file')}</p>
        </ConfirmDialog>
      )}
    </>
  )
}

interface FolderProps {
  found: FoldersResponse
  path: string
  isOff: boolean
  onOpen(entry: FolderSize): void
  onDownload(entry: FolderSize): void
  onRemove(entry: FolderSize): void
}

function Folder({ found, path, ...row }: FolderProps) {
  const t = useTranslations('files')
  const size = useSize()
  const [bytes, count] = [size(found.bytes), found.files]
  return (
    <>
      <p>{t('here', { path: path === '' ? t('home') : path, size: bytes, files: count })}</p>
      {!found.is_complete && <p className="hint">{t('partly')}</p>}
      {found.entries.length === 0 && <p className="hint">{t('empty')}</p>}
      <ul className="rows folder-sizes">
        {found.entries.map((entry) => (
          <FolderRow
            key={entry.name}
            entry={entry}
            share={found.bytes === 0 ? 0 : entry.bytes / found.bytes}
            {...row}
          />
        ))}
      </ul>
    </>
  )
}

interface FolderRowProps extends Omit<FolderProps, 'found' | 'path'> {
  entry: FolderSize
  /** Of the bytes of its folder, 0 to 1. */
  share: number
}

function FolderRow({ entry, share, isOff, onOpen, onDownload, onRemove }: FolderRowProps) {
  const t = useTranslations('files')
  const size = useSize()(entry.bytes)
  const { name, kind } = entry
  return (
    <li>
      {kind === 'folder' ? (
        <Button variant="small" onPress={() => onOpen(entry)}>
          {name}
        </Button>
      ) : (
        <span className="folder-name">{name}</span>
      )}
      <span className="hint">
        {kind === 'folder' || kind === 'file' ? t(kind, { size, files: entry.files }) : t(kind)}
      </span>
      <span className="actions">
        {(kind === 'folder' || kind === 'file') && (
          <Button variant="small" isOff={isOff} onPress={() => onDownload(entry)}>
            <ShortLabel text={t('download')} name={t('downloadThis', { name })} />
          </Button>
        )}
        <Button variant="small" isOff={isOff} onPress={() => onRemove(entry)}>
          <ShortLabel text={t('remove')} name={t('removeThis', { name })} />
        </Button>
      </span>
      <span className="folder-share" aria-hidden style={{ inlineSize: `${Math.round(share * 100)}%` }} />
    </li>
  )
}
