module miglab

go 1.26
