import { isAbsolute, relative, sep } from 'node:path';

/** Whether an absolute path is `root` or below it, as they are written: links and case are not looked at. */
export function isInside(path: string, root: string): boolean {
  const way = relative(root, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
