package reports

// Page is a run record put into words, rows and figures: what every format
// prints, so that all of them say the same. Its texts are single clean lines
// (OneLine) but not escaped for any format.
type Page struct {
	Title    Title
	Headline Headline
	Sections []Section
}

// Title says what was looked at, in four parts; a part may be empty.
type Title struct {
	Model   string // "GLM-5-NVFP4"
	Machine string // "8 × RTX PRO 6000 (96 GB GDDR7, PCIe 5)"
	Engine  string // "SGLang, TP 8"
	Point   string // "batch 1, context 576"
}

// Section is a heading with what stands below it. First sections belong to the
// first page: what an engineer reads in ten seconds.
type Section struct {
	ID, Title string
	First     bool
	Blocks    []Block
}

// Block is one of Paragraph, Heading, List, *Table, Ladder, Figure.
type Block interface{ block() }

// Paragraph is running text.
type Paragraph string

// Heading divides a section.
type Heading struct{ ID, Title string }

// List is items, numbered or not.
type List struct {
	Numbered bool
	Items    []Item
}

// Item is an entry of a list.
type Item struct {
	Tag   string   // a word before it: a severity, a symbol
	Text  string   // the item
	Value string   // what it is worth, set apart: "≤ 2.200 ms"
	Notes []string // smaller lines below
	Warn  bool
}

// Table is rows under titles.
type Table struct {
	ID      string
	Title   string // caption
	Columns []Column
	Rows    []Row
	Note    string // below the table
	Ordered bool   // the order of the rows says something: do not offer another
}

// Column is one column of a table. Columns that follow each other in the same
// Group stand below the group's name; Short stands for the group where there
// is room for one line of titles only.
type Column struct {
	Title        string
	Group, Short string
	Right        bool // numbers: aligned right, never wrapped
	Whole        bool // one word that is not to be broken: a hash
	Told         bool // the ladder before the table has it, where that is printed as rows
}

// Row is one row; Kind is "" or one of the kinds below.
type Row struct {
	Cells []string
	Kind  string
}

// The kinds of rows that formats may set apart.
const (
	RowStrong = "strong" // the row the headline is about
	RowTotal  = "total"
	RowWarn   = "warn" // what nothing explains, what is not to be relied on
	RowFloor  = "floor"
)

// Ladder is the sum from the floor to the measured time. Figure formats draw
// it; others print its rows.
type Ladder struct {
	Point int // index in the run
	Rows  []Step
}

// Step is one row of a ladder.
type Step struct {
	Ms    string // "3.076", "+2.076", "= 95.140"
	Sum   string // running sum
	Share string // of the measured time
	Name  string // "replication · attention.qkv"
	Text  string
	Kind  string // RowFloor, "", RowWarn for the unattributed, RowTotal
}

// Figure asks for a drawing of the chart package.
type Figure struct {
	Kind  string // FigureRoofline, …
	Point int    // index in the run, for figures of one point
}

// The figures a page may ask for beside its ladders.
const (
	FigureRoofline   = "roofline"
	FigureComponents = "components"
	FigureThroughput = "throughput"
	FigureTimeline   = "timeline"
)

func (Paragraph) block() {}
func (Heading) block()   {}
func (List) block()      {}
func (*Table) block()    {}
func (Ladder) block()    {}
func (Figure) block()    {}
