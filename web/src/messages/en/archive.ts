/** Text of the page that a mailed link to archives opens. */
export const archive = {
  title: 'Your archived files',
  lead: '{group} has ended. Here are the files that you had in its containers.',
  until: 'They are deleted <at></at>.',
  size: '{size}, as a compressed archive (.tar.gz)',
  download: 'Download',
  downloadThis: 'Download the files of {type}',
  begun: 'The download has begun.',
  none: 'You had no files in its containers.',
  incomplete: 'The link is incomplete. Open the whole link of the mail.',
  loading: 'Loading…',
} as const
